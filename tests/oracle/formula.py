"""Evaluates the expressions that an analyzer prints: strides, extents, conditions, whole offsets.

The text does not say whether ``//`` truncates or floors, so a division of a negative number cannot be judged.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np


class CannotTell(Exception):
    """The text holds a name that has no number, or a division whose rounding is not said."""


def _divide(a: Any, b: Any) -> Any:
    _refuse_negative(a, b)
    return np.floor_divide(a, b)


def _remainder(a: Any, b: Any) -> Any:
    _refuse_negative(a, b)
    return np.remainder(a, b)


def _refuse_negative(a: Any, b: Any) -> None:
    if np.any(np.asarray(a) < 0) or np.any(np.asarray(b) <= 0):
        raise CannotTell("division of a negative number")


def _smallest(*values: Any) -> Any:
    return np.minimum.reduce(np.broadcast_arrays(*values))


def _largest(*values: Any) -> Any:
    return np.maximum.reduce(np.broadcast_arrays(*values))


OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.FloorDiv: _divide,
    ast.Mod: _remainder,
    ast.Pow: lambda a, b: np.power(a, b),
    ast.BitAnd: np.bitwise_and,
    ast.BitOr: np.bitwise_or,
    ast.BitXor: np.bitwise_xor,
    ast.LShift: np.left_shift,
    ast.RShift: np.right_shift,
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": np.abs,
    "cdiv": lambda a, b: _divide(a + b - 1, b),
    "eq": np.equal,
    "ge": np.greater_equal,
    "gt": np.greater,
    "le": np.less_equal,
    "lt": np.less,
    "max": _largest,
    "min": _smallest,
    "ne": np.not_equal,
    "where": np.where,
}


def lanes(text: str, names: dict[str, Any]) -> Any:
    """The value of an expression, lane by lane where ``names`` holds arrays. Raises CannotTell."""
    try:
        return _value(_parsed(text.strip()), names)
    except SyntaxError as error:
        raise CannotTell(f"not an expression: {text}") from error


@lru_cache(maxsize=4096)
def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _value(node: ast.expr, names: dict[str, Any]) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, (bool, int)):
        return int(node.value)
    if isinstance(node, ast.Name):
        if node.id not in names:
            raise CannotTell(f"no number for {node.id}")
        return names[node.id]
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_value(node.left, names), _value(node.right, names))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, names)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in OPERATORS:
        return OPERATORS[type(node.ops[0])](_value(node.left, names), _value(node.comparators[0], names))
    if isinstance(node, ast.BoolOp):
        values = [_value(v, names) for v in node.values]
        combine = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
        return combine.reduce(np.broadcast_arrays(*values))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
        return FUNCTIONS[node.func.id](*(_value(a, names) for a in node.args))
    raise CannotTell(f"not understood: {ast.dump(node)[:80]}")


def evaluate(text: str | None, names: dict[str, Any]) -> int | None:
    """The integer that an expression of scalars stands for; None where it cannot be told."""
    if text is None:
        return None
    try:
        return int(lanes(text, names))
    except (CannotTell, ValueError, TypeError):
        return None
