"""Evaluation of expressions to values."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import libcst as cst

from coalesce_lint.access import Place
from coalesce_lint.index.nodes import Node, Param, const
from coalesce_lint.kernels import control, language, tiles
from coalesce_lint.kernels.build import Builder, dim_of, int_value
from coalesce_lint.kernels.source import LANGUAGE_NAMES, Module
from coalesce_lint.kernels.values import Arguments, BlockPtr, Bound, Desc, DType, Fn, Lambda, Ref, Tup, Value

if TYPE_CHECKING:
    from coalesce_lint.kernels.interpret import Frame

_BINARY = {
    cst.Add: "add",
    cst.Subtract: "sub",
    cst.Multiply: "mul",
    cst.FloorDivide: "div",
    cst.Modulo: "mod",
    cst.Divide: "truediv",
    cst.BitAnd: "and",
    cst.BitOr: "or",
    cst.BitXor: "xor",
    cst.LeftShift: "shl",
    cst.RightShift: "shr",
    cst.Power: "pow",
    cst.MatrixMultiply: "truediv",
}
_COMPARE: dict[type, str] = {
    cst.LessThan: "lt",
    cst.LessThanEqual: "le",
    cst.GreaterThan: "gt",
    cst.GreaterThanEqual: "ge",
    cst.Equal: "eq",
    cst.NotEqual: "ne",
    cst.Is: "eq",
    cst.IsNot: "ne",
}
_COMPREHENSION_LIMIT = 64


class Expressions:
    """The expression half of the interpreter; the state lives in ``Interpreter``."""

    build: Builder
    guards: list[tuple[Node, bool]]
    lambda_depth: int
    #: Values made once for a kernel: its unknown globals, elements of its parameters, tiles of unknown callers.
    global_symbols: dict[str, Node]
    elements: dict[str, Node]
    unknown_tiles: dict[tuple[int, int], Node]

    if TYPE_CHECKING:

        @property
        def frame(self) -> Frame: ...

        @property
        def env(self) -> dict[str, Value]: ...

        resolver: Any

        def inline(self, fn: Any, args: Arguments, place: Place | None) -> Value: ...

    # -- entry -----------------------------------------------------------------------------------------------------

    def expr(self, node: Any) -> Value:
        """The value of an expression; opaque where it is not understood."""
        maker = _EXPRESSIONS.get(type(node))
        if maker is None:
            return self.build.opaque(f"{type(node).__name__} expression", shape=None)
        return maker(self, node)

    def number(self, value: Value) -> Node:
        """A value as an expression node."""
        if isinstance(value, Node):
            return value
        return self.build.opaque(f"{type(value).__name__.lower()} used as a number", shape=None)

    def condition(self, value: Value) -> Node:
        """A value as a branch condition (a node of type i1, or a constant)."""
        if isinstance(value, Tup):
            return const(bool(value.items))
        if not isinstance(value, Node):
            return const(True)
        if value.op == "const":
            return const(bool(value.attr))
        if value.type == "i1":
            return value
        return self.build.compare("ne", value, const(0))

    # -- leaves ----------------------------------------------------------------------------------------------------

    def name(self, node: cst.Name) -> Value:
        return self.lookup(node.value)

    def lookup(self, name: str) -> Value:
        env = self.frame.env
        if name in env:
            return env[name]
        if name in ("True", "False", "None"):
            return const({"True": True, "False": False, "None": None}[name])
        module = self.frame.function.module
        return self.module_name(module, name)

    def module_name(self, module: Module, name: str) -> Value:
        if name in module.functions:
            return Fn(module.functions[name])
        if name in module.imports:
            return Ref(module.imports[name])
        if name in module.constants:
            return self.constant_expr(module.constants[name], module, name)
        if name in LANGUAGE_NAMES:
            return Ref("triton.language")
        return Ref(f"builtins.{name}") if name in language.BUILTINS else self.global_symbol(name)

    def global_symbol(self, name: str) -> Node:
        """A global of the module whose value is not known: fixed when the kernel is compiled."""
        known = self.global_symbols
        if name not in known:
            known[name] = Node("param", (), Param(name, True, None, False), (), None, None, True)
        return known[name]

    def constant_expr(self, node: ast.expr, module: Module, name: str = "") -> Value:
        """The value of a module-level constant or a default, from its syntax alone."""
        if isinstance(node, ast.Constant):
            if isinstance(node.value, (bool, int, float, str, type(None))):
                return const(node.value)
        elif isinstance(node, (ast.Tuple, ast.List)):
            return Tup([self.constant_expr(e, module) for e in node.elts])
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self.constant_expr(node.operand, module)
            if isinstance(value, Node) and value.op == "const" and isinstance(value.attr, (int, float)):
                return const(-value.attr)
        elif isinstance(node, ast.Call) and len(node.args) == 1:
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in ("constexpr", "int", "float", "bool"):
                return self.constant_expr(node.args[0], module, name)
        elif isinstance(node, ast.Name) and node.id != name:
            return self.module_name(module, node.id)
        elif isinstance(node, ast.Attribute):
            base = node
            parts = []
            while isinstance(base, ast.Attribute):
                parts.append(base.attr)
                base = base.value  # type: ignore[assignment]
            if isinstance(base, ast.Name) and base.id in module.imports:
                return Ref(".".join([module.imports[base.id], *reversed(parts)]))
        elif isinstance(node, ast.BinOp) and type(node.op) in _AST_BINARY:
            a, b = self.constant_expr(node.left, module), self.constant_expr(node.right, module)
            if isinstance(a, Node) and isinstance(b, Node):
                return self.build.binary(_AST_BINARY[type(node.op)], a, b)
        return self.global_symbol(name or f"global{node.lineno}_{node.col_offset}")

    # -- operators -------------------------------------------------------------------------------------------------

    def binary(self, node: cst.BinaryOperation) -> Value:
        op = _BINARY.get(type(node.operator))
        a, b = self.expr(node.left), self.expr(node.right)
        return self.binary_values(op, a, b) if op else self.build.opaque("operator")

    def binary_values(self, op: str, a: Value, b: Value) -> Value:
        if isinstance(a, Tup) and isinstance(b, Tup) and op == "add":
            return Tup(a.items + b.items)
        k = int_value(b)
        if isinstance(a, Tup) and op == "mul" and k is not None and 0 <= k * len(a.items) <= 64:
            return Tup(a.items * k)
        if isinstance(a, DType) or isinstance(b, DType):
            return DType()
        return self.build.binary(op, self.number(a), self.number(b))

    def unary(self, node: cst.UnaryOperation) -> Value:
        value = self.expr(node.expression)
        if isinstance(node.operator, cst.Not):
            return self.build.negate(self.condition(value))
        x = self.number(value)
        if isinstance(node.operator, cst.Minus):
            if x.op == "const" and isinstance(x.attr, (int, float)):
                return const(-x.attr)
            out = self.build.make("neg", (x,), None, x.shape, x.type)
            return out
        if isinstance(node.operator, cst.BitInvert):
            if x.op == "const" and isinstance(x.attr, int):
                return const(~x.attr)
            return self.build.make("not", (x,), None, x.shape, x.type)
        return x

    def boolean(self, node: cst.BooleanOperation) -> Value:
        left = self.expr(node.left)
        is_and = isinstance(node.operator, cst.And)
        cond = self.condition(left)
        if cond.op == "const":
            if bool(cond.attr) != is_and:
                return left
            return self.expr(node.right)
        right = self.expr(node.right)
        other = self.condition(right)
        if other.op == "const":
            return cond if bool(other.attr) == is_and else const(not is_and)
        return self.build.binary("and" if is_and else "or", cond, other)

    def comparison(self, node: cst.Comparison) -> Value:
        left = self.expr(node.left)
        out: Node | None = None
        for part in node.comparisons:
            right = self.expr(part.comparator)
            one = self.compare_values(type(part.operator), left, right)
            out = one if out is None else self.build.binary("and", out, one)
            left = right
        return out

    def compare_values(self, operator: type, a: Value, b: Value) -> Node:
        if operator in (cst.In, cst.NotIn) and isinstance(b, Tup) and isinstance(a, Node):
            found: Node = const(False)
            for item in b.items:
                hit = self.compare_values(cst.Equal, a, item)
                found = hit if found.op == "const" and not found.attr else self.build.binary("or", found, hit)
                if hit.op == "const" and hit.attr:
                    found = hit
                    break
            return found if operator is cst.In else self.build.negate(found)
        op: str | None = _COMPARE.get(operator)
        if op is None:
            return self.build.make("data", (), "condition", (), "i1")
        if isinstance(a, DType) and isinstance(b, DType) and a.name and b.name and op in ("eq", "ne"):
            return const((a == b) == (op == "eq"))
        if not (isinstance(a, Node) and isinstance(b, Node)):
            none = [x for x in (a, b) if isinstance(x, Node) and x.op == "const" and x.attr is None]
            if none and op in ("eq", "ne"):
                return const(op == "ne")
            return self.build.make("data", (), "condition", (), "i1")
        for x, y in ((a, b), (b, a)):
            if y.op == "const" and y.attr is None and x.op not in ("const", "param", "phi", "opaque", "carried"):
                return const(op == "ne")
        return self.build.compare(op, a, b)

    def if_expression(self, node: cst.IfExp) -> Value:
        cond = self.condition(self.expr(node.test))
        if cond.op == "const" and cond.attr is not None:
            return self.expr(node.body if cond.attr else node.orelse)
        self.guards.append((cond, True))
        a = self.expr(node.body)
        self.guards[-1] = (cond, False)
        b = self.expr(node.orelse)
        self.guards.pop()
        return control.join(self.build, cond, a, b)

    # -- structure -------------------------------------------------------------------------------------------------

    def sequence(self, node: Any) -> Value:
        items: list[Value] = []
        for e in node.elements:
            value = self.expr(e.value)
            if isinstance(e, cst.StarredElement) and isinstance(value, Tup):
                items.extend(value.items)
            else:
                items.append(value)
        return Tup(items)

    def comprehension(self, node: Any) -> Value:
        source = node.for_in
        if isinstance(source.iter, cst.Call):
            bounds = self.range_bounds(source.iter)
            if bounds is None:
                values = self.expr(source.iter)
            else:
                numbers = [int_value(b) for b in bounds]
                values = None
                if None not in numbers:
                    values = Tup([const(k) for k in range(*numbers)[:_COMPREHENSION_LIMIT]])  # type: ignore[arg-type]
        else:
            values = self.expr(source.iter)
        if not isinstance(values, Tup) or source.inner_for_in is not None:
            return self.build.opaque("comprehension over an unknown value", shape=None)
        saved = dict(self.env)
        out = []
        for item in values.items[:_COMPREHENSION_LIMIT]:
            self.assign(source.target, item)  # type: ignore[attr-defined]
            tests = [self.condition(self.expr(t.test)) for t in source.ifs]
            if all(t.op == "const" and t.attr for t in tests):
                out.append(self.expr(node.elt))
        self.frame.env = saved
        return Tup(out)

    def make_lambda(self, node: cst.Lambda) -> Value:
        return Lambda([p.name.value for p in node.params.params], node.body, dict(self.env))

    def subscript(self, node: cst.Subscript) -> Value:
        value = self.expr(node.value)
        parts = [s.slice for s in node.slice]
        if isinstance(value, Tup):
            return self.tuple_item(value, parts)
        if isinstance(value, Node):
            if len(parts) == 1 and isinstance(parts[0], cst.Index) and value.op == "param":
                key = self.expr(parts[0].value)
                k = int_value(key)
                if k is not None:
                    return self.element(value, k)
                if isinstance(key, Node) and key.op == "const" and isinstance(key.attr, str):
                    return self.element(value, key.attr)
                if isinstance(key, Node) and key.shape == () and key.op != "const":
                    return self.element(value, "*")  # one of a tuple's items, all alike for the lanes
            return tiles.index(self, value, parts)
        return self.build.opaque("subscript", shape=None)

    def tuple_item(self, value: Tup, parts: Any) -> Value:
        part = parts[0]
        if isinstance(part, cst.Index):
            k = int_value(self.expr(part.value))
            if k is not None and -len(value.items) <= k < len(value.items):
                return value.items[k]
            if value.items and all(isinstance(v, Node) for v in value.items):
                out = value.items[0]
                for other in value.items[1:]:
                    out = control.join(self.build, control.ANY, out, other)
                return out
            return self.build.opaque("tuple index not known", shape=None)
        bounds = [None if b is None else int_value(self.expr(b)) for b in (part.lower, part.upper, part.step)]
        return Tup(value.items[slice(*bounds)])

    def element(self, value: Node, key: int | str) -> Node:
        """An element or attribute of a parameter that is a tuple or an aggregate: a parameter of its own."""
        known = self.elements
        name = f"{value.attr.name}[{key}]" if isinstance(key, int) else f"{value.attr.name}.{key}"
        if name not in known:
            p = Param(name, value.attr.constexpr, None, None, value.attr.index, value.attr.specialize)
            known[name] = Node("param", (), p, (), None, None, value.static)
        return known[name]

    def attribute(self, node: cst.Attribute) -> Value:
        base = self.expr(node.value)
        name = node.attr.value
        if isinstance(base, Ref):
            return language.named(self, base, name)
        if isinstance(base, Tup) and name in base.names:
            return base.items[base.names.index(name)]
        if isinstance(base, Node) and base.op == "const" and name == "value":
            return base
        if isinstance(base, (Node, BlockPtr, Desc)):
            return tiles.attribute(self, base, name)
        if isinstance(base, DType):
            return DType() if name != "element_ty" else DType(base.name)
        return Bound(base, name)

    # -- calls -----------------------------------------------------------------------------------------------------

    def call(self, node: cst.Call) -> Value:
        func = self.expr(node.func)
        args = self.arguments(node)
        at = self.frame.function.places.get(id(node))
        path = self.frame.function.module.path
        place = Place(path, *at) if at else Place(path, self.frame.function.line, 0)
        self.build.pos = (path, place.line, place.column)
        return self.apply(func, args, place)

    def apply(self, func: Value, args: Arguments, place: Place) -> Value:
        if isinstance(func, Fn):
            return self.inline(func.function, args, place)
        if isinstance(func, Ref):
            return language.call(self, func, args, place)
        if isinstance(func, Bound):
            return language.call_method(self, func, args, place)
        if isinstance(func, Lambda) and self.lambda_depth < 8:
            return self.call_lambda(func, args)
        numbers = [a for a in args.positional if isinstance(a, Node)]
        if isinstance(func, Node) and func.op == "param":
            return self.build.opaque(f"call of the function argument {func.attr.name}", *numbers, shape=None)
        return self.build.opaque("call of a value that is not known", *numbers, shape=None)

    def call_lambda(self, func: Lambda, args: Arguments) -> Value:
        env = dict(func.env)
        for k, name in enumerate(func.params):
            env[name] = args.get(k, name, const(None))
        saved, self.frame.env = self.frame.env, env
        self.lambda_depth += 1
        try:
            if isinstance(func.body, (cst.IndentedBlock, cst.SimpleStatementSuite)):
                return self.build.opaque("nested function", shape=None)
            return self.expr(func.body)
        finally:
            self.lambda_depth -= 1
            self.frame.env = saved

    def arguments(self, node: cst.Call) -> Arguments:
        out = Arguments([], {}, False, node)
        for a in node.args:
            if a.star == "" and a.keyword is None:
                out.positional.append(self.expr(a.value))
            elif a.keyword is not None:
                out.keywords[a.keyword.value] = self.expr(a.value)
            else:
                value = self.expr(a.value)
                if a.star == "*" and isinstance(value, Tup):
                    out.positional.extend(value.items)
                else:
                    out.starred = True
        return out

    def range_bounds(self, node: cst.Call) -> tuple[Node, Node, Node] | None:
        """Start, stop and step of a ``range`` in any spelling; None for other iterables."""
        name = node.func.attr.value if isinstance(node.func, cst.Attribute) else getattr(node.func, "value", "")
        if not isinstance(name, str) or not name.endswith("range"):
            return None
        args = self.arguments(node)
        p = [self.number(x) for x in args.positional[:3]]
        named = [args.keywords.get(k) for k in ("arg1", "arg2", "step")]
        for k, v in enumerate(named):
            if v is not None and k == len(p):
                p.append(self.number(v))
        if not p:
            return None
        step = args.keywords.get("step")
        if len(p) == 1:
            return const(0), p[0], self.number(step) if step is not None else const(1)
        return p[0], p[1], p[2] if len(p) > 2 else const(1)

    def shape_of(self, value: Value) -> tuple[Any, ...] | None:
        """A shape argument as a tuple of extents."""
        if isinstance(value, Tup):
            return tuple(dim_of(v) if isinstance(v, Node) else dim_of(self.number(v)) for v in value.items)
        if isinstance(value, Node) and value.op != "opaque" and value.shape == ():
            return (dim_of(value),)
        return None


def _integer(self: Expressions, node: cst.Integer) -> Value:
    value = node.evaluated_value
    return const(value) if value.bit_length() <= 256 else self.build.opaque("number too large")


def _string(self: Expressions, node: Any) -> Value:
    value = node.evaluated_value if hasattr(node, "evaluated_value") else None
    return const(value if isinstance(value, str) else "")


_AST_BINARY = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.FloorDiv: "div",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.LShift: "shl",
    ast.RShift: "shr",
    ast.BitOr: "or",
    ast.Div: "truediv",
}
_EXPRESSIONS: dict[type, Any] = {
    cst.Name: Expressions.name,
    cst.Integer: _integer,
    cst.Float: lambda self, node: const(float(node.value.replace("_", ""))),
    cst.SimpleString: _string,
    cst.ConcatenatedString: _string,
    cst.FormattedString: _string,
    cst.BinaryOperation: Expressions.binary,
    cst.UnaryOperation: Expressions.unary,
    cst.BooleanOperation: Expressions.boolean,
    cst.Comparison: Expressions.comparison,
    cst.IfExp: Expressions.if_expression,
    cst.Tuple: Expressions.sequence,
    cst.List: Expressions.sequence,
    cst.ListComp: Expressions.comprehension,
    cst.GeneratorExp: Expressions.comprehension,
    cst.Lambda: Expressions.make_lambda,
    cst.Subscript: Expressions.subscript,
    cst.Attribute: Expressions.attribute,
    cst.Call: Expressions.call,
}
