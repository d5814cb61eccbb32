"""Evaluation of expressions to values."""

from __future__ import annotations

from typing import Any

import libcst as cst

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
                numbers = [k for b in bounds if (k := int_value(b)) is not None]
                values = None
                if len(numbers) == len(bounds):
                    values = Tup([const(k) for k in range(*numbers)[:_COMPREHENSION_LIMIT]])
        else:
            values = self.expr(source.iter)
        if not isinstance(values, Tup) or source.inner_for_in is not None:
            return self.build.opaque(Reason.COMPREHENSION.why, shape=None)
        saved = dict(self.env)
        out = []
        for item in values.items[:_COMPREHENSION_LIMIT]:
            self.assign(source.target, item)
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
        return self.build.opaque(Reason.SUBSCRIPT.why, shape=None)

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
            return self.build.opaque(Reason.TUPLE_INDEX.why, shape=None)
        bounds = [None if b is None else int_value(self.expr(b)) for b in (part.lower, part.upper, part.step)]
        return Tup(value.items[slice(*bounds)])

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


def _integer(self: Expressions, node: cst.Integer) -> Value:
    value = node.evaluated_value
    return const(value) if value.bit_length() <= 256 else self.build.opaque(Reason.NUMBER_SIZE.why)


def _string(self: Expressions, node: Any) -> Value:
    value = node.evaluated_value if hasattr(node, "evaluated_value") else None
    return const(value if isinstance(value, str) else "")


def _walrus(self: Expressions, node: cst.NamedExpr) -> Value:
    value = self.expr(node.value)
    self.assign(node.target, value)
    return value


_EXPRESSIONS: dict[type, Any] = {
    cst.NamedExpr: _walrus,
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
