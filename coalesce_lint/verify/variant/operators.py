"""What operators make of values: sums and numbers where they are that, else leaves."""

from __future__ import annotations

import ast
from typing import Any

from coalesce_lint.verify.variant.forms import Form, Leaf, Number, rank_of
from coalesce_lint.verify.variant.scope import Broken, Plain, Scope
from coalesce_lint.verify.variant.values import roots_of


def opaque(scope: Scope, node: ast.expr, rank: int | None) -> Form:
    """A leaf named after an expression."""
    return Form.of(Leaf(scope, None, node, rank))


def number(value: Any) -> Number | None:
    return value.const if isinstance(value, Form) and value.is_number else None


def rank(value: Any) -> int | None:
    if not isinstance(value, Form):
        return 0 if isinstance(value, Plain) else None
    ranks = []
    for item in value.terms:
        own = rank_of(item)
        for view in item.views:
            if own is not None and view.startswith("{}["):
                own = view.count(",") + 1
            elif own is not None and "tl." not in view.split("(")[0] and not view.startswith("{}.to("):
                own = None
        ranks.append(own)
    return None if None in ranks else max((r for r in ranks if r is not None), default=0)


def truth(value: Any) -> bool | None:
    """Whether a value is true, None where that is not known."""
    if isinstance(value, Plain):
        return bool(value.value)
    known = number(value)
    return None if known is None else bool(known.value)


def choice(scope: Scope, node: ast.expr, values: list[Any]) -> Any:
    roots = frozenset(r for v in values for r in roots_of(v))
    if roots:
        return Broken(roots, "the pointer is chosen by a branch")
    return opaque(scope, node, None)


def unary(scope: Scope, node: ast.expr, op: ast.unaryop, operand: Any) -> Any:
    if isinstance(op, ast.USub) and isinstance(operand, Form) and operand.root is None:
        return operand.times(Number(-1))
    if isinstance(op, ast.UAdd):
        return operand
    known = truth(operand)
    if isinstance(op, ast.Not) and known is not None:
        return Plain(not known)
    return opaque(scope, node, rank(operand))


def binary(scope: Scope, node: ast.expr, op: ast.operator, a: Any, b: Any) -> Any:
    for side in (a, b):
        if isinstance(side, Broken):
            return side
    if isinstance(a, Form) and isinstance(b, Form):
        if isinstance(op, ast.Add):
            return a.plus(b)
        if isinstance(op, ast.Sub) and b.root is None:
            return a.plus(b.times(Number(-1)))
        left, right = number(a), number(b)
        if isinstance(op, ast.Mult) and a.root is None and b.root is None:
            if right is not None:
                return a.times(right)
            if left is not None:
                return b.times(left)
        if left is not None and right is not None:
            found = arithmetic(op, left, right)
            if found is not None:
                return found
    if isinstance(a, Plain) and isinstance(b, Plain):
        return opaque(scope, node, 0)
    ranks = (rank(a), rank(b))
    return opaque(scope, node, None if None in ranks else max(r for r in ranks if r is not None))


def arithmetic(op: ast.operator, a: Number, b: Number) -> Form | None:
    """Integer arithmetic on two numbers; division as the kernel's own is for non-negative ones only."""
    x, y = a.value, b.value
    result: int | None = None
    match op:
        case ast.FloorDiv() if y > 0 and x >= 0:
            result = x // y
        case ast.Mod() if y > 0 and x >= 0:
            result = x % y
        case ast.LShift() if 0 <= y < 64:
            result = x << y
        case ast.RShift() if 0 <= y < 64:
            result = x >> y
        case ast.BitAnd():
            result = x & y
        case ast.BitOr():
            result = x | y
        case ast.BitXor():
            result = x ^ y
        case ast.Pow() if 0 <= y < 64:
            result = x**y
    return None if result is None else Form(const=Number(result, a.runtime or b.runtime))


class Truth(Plain):
    """A comparison's outcome; ``runtime`` where it rests on a runtime argument."""

    runtime = False


def compare(scope: Scope, node: ast.expr, ops: list[ast.cmpop], values: list[Any]) -> Any:
    if len(ops) == 1:
        a, b = values
        x, y = number(a), number(b)
        if x is not None and y is not None:
            result = {
                ast.Lt: x.value < y.value, ast.LtE: x.value <= y.value, ast.Gt: x.value > y.value,
                ast.GtE: x.value >= y.value, ast.Eq: x.value == y.value, ast.NotEq: x.value != y.value,
            }.get(type(ops[0]))  # fmt: skip
            if result is not None:
                found = Truth(result)
                found.runtime = x.runtime or y.runtime
                return found
        nothing = Plain(None)
        if isinstance(ops[0], (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
            equal = None
            if isinstance(a, Plain) and isinstance(b, Plain) and plain(a) and plain(b):
                equal = a.value == b.value
            elif (a == nothing) != (b == nothing):
                equal = False
            if equal is not None:
                return Truth(equal == isinstance(ops[0], (ast.Is, ast.Eq)))
    ranks = [rank(v) for v in values]
    return opaque(scope, node, None if None in ranks else max(r for r in ranks if r is not None))


def plain(value: Plain) -> bool:
    return not isinstance(value.value, tuple)


def boolean(scope: Scope, node: ast.expr, op: ast.boolop, values: list[Any]) -> Any:
    known = [truth(v) for v in values]
    stop = isinstance(op, ast.Or)
    if stop in known or None not in known:
        found = Truth(stop if stop in known else not stop)
        found.runtime = any(getattr(v, "runtime", False) for v in values)
        return found
    return opaque(scope, node, None)
