"""Evaluation of expressions to values."""

from __future__ import annotations

import ast
from typing import Any

from coalesce_lint.index.nodes import Node, const
from coalesce_lint.kernels import control, language, tiles
from coalesce_lint.kernels.build import int_value
from coalesce_lint.kernels.calls import Calls
from coalesce_lint.kernels.names import Names
from coalesce_lint.kernels.operators import Operators
from coalesce_lint.kernels.values import BlockPtr, Bound, Desc, DType, Lambda, Ref, Tup, Value
from coalesce_lint.reasons import Reason

_COMPREHENSION_LIMIT = 64


class Expressions(Names, Operators, Calls):
    """The expression half of the interpreter; the state lives in ``Interpreter``."""

    def expr(self, node: Any) -> Value:
        """The value of an expression; opaque where it is not understood."""
        maker = _EXPRESSIONS.get(type(node))
        if maker is None:
            return self.build.opaque(Reason.EXPRESSION.of(type(node).__name__), shape=None)
        return maker(self, node)

    def sequence(self, node: Any) -> Value:
        items: list[Value] = []
        for e in node.elts:
            starred = isinstance(e, ast.Starred)
            value = self.expr(e.value if starred else e)
            if starred and isinstance(value, Tup):
                items.extend(value.items)
            else:
                items.append(value)
        return Tup(items)

    def comprehension(self, node: Any) -> Value:
        source = node.generators[0]
        if isinstance(source.iter, ast.Call):
            bounds = self.range_bounds(source.iter)
            if bounds is None:
                values = self.expr(source.iter)
            else:
                numbers = [k for b in bounds if (k := int_value(b)) is not None]
                values = None
                if len(numbers) == len(bounds) and numbers[2]:
                    values = Tup([const(k) for k in range(*numbers)[:_COMPREHENSION_LIMIT]])
        else:
            values = self.expr(source.iter)
        if not isinstance(values, Tup) or len(node.generators) > 1:
            return self.build.opaque(Reason.COMPREHENSION.why, shape=None)
        saved = dict(self.env)
        out = []
        for item in values.items[:_COMPREHENSION_LIMIT]:
            self.assign(source.target, item)
            tests = [self.condition(self.expr(test)) for test in source.ifs]
            if all(t.op == "const" and t.attr for t in tests):
                out.append(self.expr(node.elt))
        self.frame.env = saved
        return Tup(out)

    def make_lambda(self, node: ast.Lambda) -> Value:
        a = node.args
        if a.defaults or a.vararg or a.kwonlyargs or a.kwarg:
            return self.build.opaque(Reason.EXPRESSION.of("Lambda"), shape=None)
        return Lambda(parameter_names(node), node.body, dict(self.env))

    def subscript(self, node: ast.Subscript) -> Value:
        value = self.expr(node.value)
        parts = [node.slice]
        if isinstance(node.slice, ast.Tuple) and node.slice.elts:
            parts = node.slice.elts
        if isinstance(value, Tup):
            return self.tuple_item(value, parts)
        if isinstance(value, Node):
            if len(parts) == 1 and not isinstance(parts[0], ast.Slice) and value.op == "param":
                key = self.expr(parts[0])
                k = int_value(key)
                if k is not None:
                    return self.element(value, k)
                if isinstance(key, Node) and key.op == "const" and isinstance(key.attr, str):
                    return self.element(value, key.attr)
                if isinstance(key, Node) and key.shape == () and key.op != "const":
                    return self.element(value, "*")  # one of a tuple's items, all alike for the lanes
            return tiles.index(self, value, parts)
        return self.build.opaque(Reason.SUBSCRIPT.why, shape=None)

    def tuple_item(self, value: Tup, parts: Any) -> Value:
        part = parts[0]
        if not isinstance(part, ast.Slice):
            k = int_value(self.expr(part))
            if k is not None and -len(value.items) <= k < len(value.items):
                return value.items[k]
            if value.items and all(isinstance(v, Node) for v in value.items):
                out = value.items[0]
                for other in value.items[1:]:
                    out = control.join(self.build, control.ANY, out, other)
                return out
            return self.build.opaque(Reason.TUPLE_INDEX.why, shape=None)
        bounds = [None if b is None else int_value(self.expr(b)) for b in (part.lower, part.upper, part.step)]
        return Tup(value.items[slice(*bounds)])

    def attribute(self, node: ast.Attribute) -> Value:
        base = self.expr(node.value)
        name = node.attr
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


def parameter_names(node: ast.Lambda | ast.FunctionDef) -> list[str]:
    """The names of the positional parameters of a lambda or a function inside a kernel."""
    return [a.arg for a in (*node.args.posonlyargs, *node.args.args)]


def _constant(self: Expressions, node: ast.Constant) -> Value:
    value = node.value
    if isinstance(value, int) and value.bit_length() > 256:
        return self.build.opaque(Reason.NUMBER_SIZE.why)
    if value is None or isinstance(value, (bool, int, float, str)):
        return const(value)
    if isinstance(value, bytes):
        return const("")
    return self.build.opaque(Reason.EXPRESSION.of(type(value).__name__), shape=None)  # ... or 1j


def _walrus(self: Expressions, node: ast.NamedExpr) -> Value:
    value = self.expr(node.value)
    self.assign(node.target, value)
    return value


_EXPRESSIONS: dict[type, Any] = {
    ast.NamedExpr: _walrus,
    ast.Name: Expressions.name,
    ast.Constant: _constant,
    ast.JoinedStr: lambda self, node: const(""),
    ast.BinOp: Expressions.binary,
    ast.UnaryOp: Expressions.unary,
    ast.BoolOp: Expressions.boolean,
    ast.Compare: Expressions.comparison,
    ast.IfExp: Expressions.if_expression,
    ast.Tuple: Expressions.sequence,
    ast.List: Expressions.sequence,
    ast.ListComp: Expressions.comprehension,
    ast.GeneratorExp: Expressions.comprehension,
    ast.Lambda: Expressions.make_lambda,
    ast.Subscript: Expressions.subscript,
    ast.Attribute: Expressions.attribute,
    ast.Call: Expressions.call,
}
