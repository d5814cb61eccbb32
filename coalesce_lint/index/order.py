"""Which of several axis strides serves the lanes best."""

from __future__ import annotations

from coalesce_lint.index import ranges, steps
from coalesce_lint.index.normalize import Normalizer
from coalesce_lint.index.poly import ONE, Poly, divide, exact_quotient


def best_unit(regular: dict[int, steps.Steps], unit: list[int]) -> int:
    """Of several axes with stride 1 the one without repeats and jumps, then the last."""
    return max(unit, key=lambda k: (regular[k].repeat == ONE, not regular[k].jumps, k))


def smallest(n: Normalizer, strides: dict[int, Poly]) -> int:
    """The axis of the smallest stride: constants by value, symbols (positive sizes) by divisibility; else the
    last.
    """
    axes = sorted(strides)
    for k in axes:
        if all(j == k or _less(n, strides[k], strides[j]) for j in axes):
            return k
    candidates = [k for k in axes if not any(_less(n, strides[j], strides[k]) for j in axes if j != k)]
    return candidates[-1] if candidates else axes[-1]


def _less(n: Normalizer, a: Poly, b: Poly) -> bool:
    x, y = a.constant, b.constant
    if x is not None and y is not None:
        return abs(x) < abs(y)
    if a == b:
        return False
    if exact_quotient(b, a) is not None:
        return True
    if exact_quotient(a, b) is not None:
        return False
    if x is not None:
        # a number against a product of sizes: by divisibility of its coefficient
        _, rest = divide(b, a)
        return not rest.terms
    return ranges.nonneg(n.algebra, b - a)
