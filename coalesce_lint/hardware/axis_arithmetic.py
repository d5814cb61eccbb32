"""Contiguity, divisibility and constancy of integer arithmetic: the binary visitors of ``AxisInfo.cpp``.

Both operands have the rank of the result already (scalars are splatted before).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from math import gcd

from coalesce_lint.hardware.axis_info import Info, constant, times
from coalesce_lint.hardware.profiles import Profile

_PLAIN: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}


def _value(op: str, a: int | None, b: int | None) -> int | None:
    """The constant result where both values are known (each visitor's ``getConstantValue``); C's division."""
    if op == "mul" and (a == 0 or b == 0):
        return 0
    if op == "mod" and b == 1:
        return 0
    if a is None or b is None:
        return None
    if op in ("div", "mod"):
        if b == 0:
            return None
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if op == "div" else a - quotient * b
    if op in ("shl", "shr"):
        if not 0 <= b < 64:
            return None
        return a << b if op == "shl" else a >> b
    return _PLAIN[op](a, b)


def binary(
    profile: Profile, op: str, a: Info, b: Info, shape: tuple[int, ...], element_bytes: int = 0
) -> Info:
    """``op`` of two values. ``element_bytes`` > 0 makes an "add" a pointer addition of ``b`` elements
    (``AddPtrOp``)."""
    value = _value(op, a.value, b.value) if not element_bytes else None
    if value is not None:
        return constant(value, shape)
    axes = range(a.rank)
    contiguity = tuple(_contiguity(op, a, b, k, shape) for k in axes)
    constancy = tuple(_constancy(op, a, b, k, shape) for k in axes)
    divisibility = tuple(_divisibility(profile, op, a, b, k, contiguity[k], element_bytes) for k in axes)
    return Info(contiguity, divisibility, constancy)


def _contiguity(op: str, a: Info, b: Info, k: int, shape: tuple[int, ...]) -> int:
    ca, cb, ka, kb = a.contiguity[k], b.contiguity[k], a.constancy[k], b.constancy[k]
    if op == "add":
        return max(gcd(ka, cb), gcd(ca, kb))
    if op == "sub":
        return gcd(ca, kb)
    if op == "mul":
        return max(ca if b.value == 1 else 1, cb if a.value == 1 else 1)
    if op == "div":
        return ca if b.value == 1 else 1
    if op in ("shl", "shr"):
        return ca if b.value == 0 else 1
    if op == "mod" and shape and ca == shape[k] and kb == shape[k]:
        return gcd(ca, a.divisibility[k], b.divisibility[k])
    return 1


def _constancy(op: str, a: Info, b: Info, k: int, shape: tuple[int, ...]) -> int:
    run = gcd(a.constancy[k], b.constancy[k])
    if op == "div" and shape and a.contiguity[k] == shape[k] and b.constancy[k] == shape[k]:
        return max(run, gcd(a.contiguity[k], a.divisibility[k], b.divisibility[k]))
    return run


def _divisibility(profile: Profile, op: str, a: Info, b: Info, k: int, run: int, element_bytes: int) -> int:
    da, db = a.divisibility[k], b.divisibility[k]
    ca, cb = a.contiguity[k], b.contiguity[k]
    if op in ("add", "sub"):
        return _sum_divisibility(profile, op, (da, db), (ca, cb), run, element_bytes)
    if op == "mul":
        return times(1 if ca > 1 and b.value != 1 else da, 1 if cb > 1 and a.value != 1 else db)
    if op == "div":
        if a.value == 0 or b.value == 1:
            return da
        if b.value and ca == 1 and abs(b.value) & (abs(b.value) - 1) == 0:
            return max(1, da // abs(b.value))
        return 1
    if op == "mod":
        return gcd(da, db) if b.constancy[k] > 1 else 1
    if op in ("shl", "shr"):
        shift = b.value if b.value is not None and 0 <= b.value < 62 else None
        base = 1 if ca > 1 and shift else da
        if op == "shl":
            return times(base, 1 << (shift or 0))
        return max(1, base >> shift) if shift is not None else 1
    return 1


def _sum_divisibility(
    profile: Profile, op: str, divisors: tuple[int, int], runs: tuple[int, int], run: int, element_bytes: int
) -> int:
    """``AddSubOpAxisInfoVisitor::getDivisibility``; offsets of pointers count in bytes."""
    size = element_bytes or 1
    da, db = divisors[0], times(divisors[1], size)
    if not profile.clamps_divisibility:
        return gcd(da, db)
    if runs[0] > 1 and runs[1] > 1:
        if op == "sub" and runs[0] == runs[1]:
            return gcd(da, db)
        return 2 if da % 2 == 0 and db % 2 == 0 else 1
    if runs[0] > 1 or runs[1] > 1:
        return gcd(da, db, times(run, size))
    return gcd(da, db)
