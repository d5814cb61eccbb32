"""Reshapes: the index along each old axis in terms of the new axes (row-major)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coalesce_lint.index.poly import ONE, ZERO, Poly, exact_quotient, of_atom

if TYPE_CHECKING:
    from coalesce_lint.index.normalize import Normalizer


def reshape_image(
    n: Normalizer, old: tuple[Any, ...] | None, new: tuple[Any, ...] | None
) -> dict[int, Poly] | None:
    """The index along each axis of ``old`` in the lanes of ``new``; None where the shapes do not fit.

    Axes are matched in groups of equal size from the left, so that ``[A, B] -> [A, B/2, 2]`` keeps A apart.
    """
    if old is None or new is None:
        return None
    olds, news = [n.extent(d) for d in old], [n.extent(d) for d in new]
    image: dict[int, Poly] = {}
    i = j = 0
    while i < len(olds) or j < len(news):
        left, right = _group(olds, news, i, j)
        if left is None or right is None:
            return None
        flat = ZERO
        for k in range(j, right):
            lane = ZERO if news[k].constant == 1 else of_atom(n.algebra.lane(k, news[k]))
            flat = flat * news[k] + lane
        _unflatten(n, image, olds, i, left, flat)
        i, j = left, right
    return image


def _group(olds: list[Poly], news: list[Poly], i: int, j: int) -> tuple[int | None, int | None]:
    """The ends of the smallest groups olds[i:a] and news[j:b] of the same size."""
    a, b = min(i + 1, len(olds)), min(j + 1, len(news))
    size_a = olds[i] if i < len(olds) else ONE
    size_b = news[j] if j < len(news) else ONE
    while size_a != size_b:
        grow_a = exact_quotient(size_b, size_a) is not None
        if grow_a and a < len(olds):
            size_a, a = size_a * olds[a], a + 1
        elif not grow_a and exact_quotient(size_a, size_b) is not None and b < len(news):
            size_b, b = size_b * news[b], b + 1
        else:
            return _whole(olds, news, i, j)
    return a, b


def _whole(olds: list[Poly], news: list[Poly], i: int, j: int) -> tuple[int | None, int | None]:
    """All that is left on both sides, where the sizes agree or cannot be compared (the compiler does)."""
    left = right = ONE
    for p in olds[i:]:
        left = left * p
    for p in news[j:]:
        right = right * p
    known = left.constant is not None and right.constant is not None
    return (None, None) if known and left != right else (len(olds), len(news))


def _unflatten(n: Normalizer, image: dict[int, Poly], olds: list[Poly], i: int, end: int, flat: Poly) -> None:
    """Splits a row-major index over the axes olds[i:end]."""
    for k in range(end - 1, i, -1):
        image[k] = n.algebra.mod(flat, olds[k], "floor")
        flat = n.algebra.div(flat, olds[k], "floor")
    if i < end:
        image[i] = flat
