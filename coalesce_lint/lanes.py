"""Where the lanes of one warp lie, read from the text of an access's lane-varying term."""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass

from coalesce_lint.access import Access

WARP = 32

_OPERATIONS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


@dataclass(frozen=True)
class _Value:
    """The value of an expression at one lane; what is added to the lanes alike (a base) is left out."""

    number: int
    varies: bool = False  #: depends on the lane
    base: bool = False  #: depends on other names only


def lane_count(access: Access) -> int:
    """Lanes of a warp that fit along the lane axis: its extent where that is a number below 32."""
    for axis in access.axes:
        if axis.axis == access.lane_axis and axis.extent.isdecimal():
            return max(1, min(WARP, int(axis.extent)))
    return WARP


def positions(access: Access) -> list[int] | None:
    """The elements that neighbouring lanes ask for, up to a common base; a warp begins at a sector.

    None where the steps between lanes depend on more than the lane (a size, a loaded value) or where the term
    is not plain arithmetic.
    """
    if access.lane_term is None or access.lane_axis is None:
        return None
    try:
        tree = ast.parse(access.lane_term, mode="eval").body
        name = f"i{access.lane_axis}"
        found = [_value(tree, name, lane).number for lane in range(lane_count(access))]
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        return None
    return [p - min(found) for p in found]


@functools.lru_cache(maxsize=4096)  # the few extents of a kernel are asked for over and over
def estimate(text: str, usual: int) -> int:
    """The value of an extent with ``usual`` for each name; ``usual`` where it is not plain arithmetic."""
    try:
        return _number(ast.parse(text, mode="eval").body, usual)
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        return usual


def _number(node: ast.expr, usual: int) -> int:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name():
            return usual
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            return _OPERATIONS[type(op)](_number(left, usual), _number(right, usual))
    raise ValueError("not plain arithmetic")


def _value(node: ast.expr, lane_name: str, lane: int) -> _Value:
    """The value of an arithmetic expression; ValueError for anything else."""
    match node:
        case ast.Constant(value=int(number)):
            return _Value(number)
        case ast.Name(id=name):
            return _Value(lane, varies=True) if name == lane_name else _Value(0, base=True)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _value(operand, lane_name, lane)
            return _Value(-inner.number, inner.varies, inner.base)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            return _combined(op, _value(left, lane_name, lane), _value(right, lane_name, lane))
    raise ValueError("not plain arithmetic")


def _combined(op: ast.operator, a: _Value, b: _Value) -> _Value:
    scales = not isinstance(op, (ast.Add, ast.Sub))
    if scales and ((a.varies and b.varies) or (a.varies and b.base) or (a.base and b.varies)):
        raise ValueError("more than the lane decides how far lanes are apart")
    if scales and (a.base or b.base):
        return _Value(0, base=True)
    varies = a.varies or b.varies
    return _Value(_OPERATIONS[type(op)](a.number, b.number), varies, not varies and (a.base or b.base))
