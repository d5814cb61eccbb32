"""Operators: arithmetic, comparisons, boolean operators and the conditional expression."""

from __future__ import annotations

import ast

from coalesce_lint.index.nodes import Node, const
from coalesce_lint.kernels import control
from coalesce_lint.kernels.build import int_value
from coalesce_lint.kernels.reading import Reading
from coalesce_lint.kernels.values import DType, Tup, Value

#: Operators of expressions and of augmented assignments.
BINARY: dict[type, str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.FloorDiv: "div",
    ast.Mod: "mod",
    ast.Div: "truediv",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "shl",
    ast.RShift: "shr",
    ast.Pow: "pow",
    ast.MatMult: "truediv",
}
_COMPARE: dict[type, str] = {
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Is: "eq",
    ast.IsNot: "ne",
}


class Operators(Reading):
    """The values of operators."""

    def binary(self, node: ast.BinOp) -> Value:
        a, b = self.expr(node.left), self.expr(node.right)
        return self.binary_values(BINARY[type(node.op)], a, b)

    def binary_values(self, op: str, a: Value, b: Value) -> Value:
        if isinstance(a, Tup) and isinstance(b, Tup) and op == "add":
            return Tup(a.items + b.items)
        k = int_value(b)
        if isinstance(a, Tup) and op == "mul" and k is not None and 0 <= k * len(a.items) <= 64:
            return Tup(a.items * k)
        if isinstance(a, DType) or isinstance(b, DType):
            return DType()
        return self.build.binary(op, self.number(a), self.number(b))

    def unary(self, node: ast.UnaryOp) -> Value:
        value = self.expr(node.operand)
        if isinstance(node.op, ast.Not):
            return self.build.negate(self.condition(value))
        x = self.number(value)
        if isinstance(node.op, ast.USub):
            if x.op == "const" and isinstance(x.attr, (int, float)):
                return const(-x.attr, x.static)
            out = self.build.make("neg", (x,), None, x.shape, x.type)
            return out
        if isinstance(node.op, ast.Invert):
            if x.op == "const" and isinstance(x.attr, int):
                return const(~x.attr, x.static)
            return self.build.make("not", (x,), None, x.shape, x.type)
        return x

    def boolean(self, node: ast.BoolOp) -> Value:
        is_and = isinstance(node.op, ast.And)
        value = self.expr(node.values[0])
        for right in node.values[1:]:
            cond = self.condition(value)
            if cond.op == "const" and bool(cond.attr) != is_and:
                return value  # decided: the rest is not evaluated
            following = self.expr(right)
            value = following if cond.op == "const" else self.both_or_one(is_and, cond, following)
        return value

    def both_or_one(self, is_and: bool, left: Node, right: Value) -> Node:
        """``left and right`` or ``left or right`` where the left condition is not known."""
        other = self.condition(right)
        if other.op == "const":
            return left if bool(other.attr) == is_and else const(not is_and)
        return self.build.binary("and" if is_and else "or", left, other)

    def comparison(self, node: ast.Compare) -> Value:
        left = self.expr(node.left)
        out: Node | None = None
        for operator, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.expr(comparator)
            one = self.compare_values(type(operator), left, right)
            out = one if out is None else self.build.binary("and", out, one)
            left = right
        return out

    def compare_values(self, operator: type, a: Value, b: Value) -> Node:
        if operator in (ast.In, ast.NotIn) and isinstance(b, Tup) and isinstance(a, Node):
            found: Node = const(False)
            for item in b.items:
                hit = self.compare_values(ast.Eq, a, item)
                found = hit if found.op == "const" and not found.attr else self.build.binary("or", found, hit)
                if hit.op == "const" and hit.attr:
                    found = hit
                    break
            return found if operator is ast.In else self.build.negate(found)
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

    def if_expression(self, node: ast.IfExp) -> Value:
        cond = self.condition(self.expr(node.test))
        if cond.op == "const" and cond.attr is not None:
            return self.expr(node.body if cond.attr else node.orelse)
        self.guards.append((cond, True))
        a = self.expr(node.body)
        self.guards[-1] = (cond, False)
        b = self.expr(node.orelse)
        self.guards.pop()
        return control.join(self.build, cond, a, b)
