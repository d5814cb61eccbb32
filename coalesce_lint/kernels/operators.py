"""Operators: arithmetic, comparisons, boolean operators and the conditional expression."""

from __future__ import annotations

import libcst as cst

from coalesce_lint.index.nodes import Node, const
from coalesce_lint.kernels import control
from coalesce_lint.kernels.build import int_value
from coalesce_lint.kernels.reading import Reading
from coalesce_lint.kernels.values import DType, Tup, Value
from coalesce_lint.reasons import Reason

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


class Operators(Reading):
    """The values of operators."""

    def binary(self, node: cst.BinaryOperation) -> Value:
        op = _BINARY.get(type(node.operator))
        a, b = self.expr(node.left), self.expr(node.right)
        return self.binary_values(op, a, b) if op else self.build.opaque(Reason.OPERATOR.why)

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
                return const(-x.attr, x.static)
            out = self.build.make("neg", (x,), None, x.shape, x.type)
            return out
        if isinstance(node.operator, cst.BitInvert):
            if x.op == "const" and isinstance(x.attr, int):
                return const(~x.attr, x.static)
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
            if (
                y.op == "const"
                and y.attr is None
                and x.op not in ("const", "param", "phi", "opaque", "carried")
            ):
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
