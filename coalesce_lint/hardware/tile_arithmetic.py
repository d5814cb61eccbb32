"""Integer arithmetic on tiles that is done once for all programs of a grid.

Sums, multiples and quotients by scalars only move the base of a tile; what the elements have more is then
found in a memo. A comparison that holds for all elements alike, as that of a mask far from the edge, is told
from the smallest and the largest element.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from coalesce_lint.hardware.graph import Unresolved
from coalesce_lint.hardware.tiles import ZERO, Tile, aligned, apply, spread, union_taint

#: Elements that the memo holds at most; then it begins anew.
_LIMIT = 1_000_000

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
}


def truncated_quotient(a: int, b: int) -> int:
    """Integer division as C does it, 0 where it is undefined."""
    if not b:
        return 0
    return a // b if a >= 0 and b > 0 else int(abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1)


def truncated_remainder(a: int, b: int) -> int:
    return a % b if a >= 0 and b > 0 else a - truncated_quotient(a, b) * b


def _shift_left(a: int, b: int) -> int:
    return a << b if 0 <= b < 64 else 0


def _shift_right(a: int, b: int) -> int:
    return a >> b if 0 <= b < 64 else 0


_PLAIN: dict[str, Callable[[Any, Any], Any]] = {
    "mul": operator.mul,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "shl": _shift_left,
    "shr": _shift_right,
}

#: The operations that ``Arithmetic.binary`` knows.
BINARY = frozenset((*_PLAIN, "add", "sub", "min", "max"))


#: Integers of a kernel have 64 bits at most; squares of squares would fill the memory.
_LARGEST = 1 << 80


def _bounded(tile: Tile) -> Tile:
    """``tile``, if its last element is a number that a kernel may hold. Raises Unresolved otherwise."""
    last = tile.relative[-1] if tile.relative else 0
    if any(isinstance(x, int) and abs(x) > _LARGEST for x in (tile.base, last)):
        raise Unresolved("number too large")
    return tile


class Arithmetic:
    """Operations on tiles. Results are remembered by the identity of the lists that they are made from."""

    def __init__(self) -> None:
        self._memo: dict[tuple[Any, ...], tuple[list[Any], Any]] = {}
        self._ranges: dict[int, tuple[tuple[Any, Any], list[Any]]] = {}
        self._size = 0

    def once(self, key: tuple[Any, ...], sources: Any, make: Callable[[], list[Any]]) -> list[Any]:
        """The list that ``make`` gives, made once for each ``key``; ``sources`` are the lists whose
        identities are in the key, which must outlive it."""
        known = self._memo.get(key)
        if known is None:
            if self._size > _LIMIT:
                self._memo.clear()
                self._ranges.clear()
                self._size = 0
            known = self._memo[key] = (make(), sources)
            self._size += len(known[0])
        return known[0]

    def range(self, values: list[Any]) -> tuple[Any, Any]:
        """The smallest and the largest value of a list."""
        known = self._ranges.get(id(values))
        if known is None:
            known = self._ranges[id(values)] = ((min(values), max(values)), values)
        return known[0]

    # -- operations -------------------------------------------------------------------------------

    def binary(self, op: str, a: Tile, b: Tile) -> Tile:
        """``op`` of two tiles. Raises Unresolved where a product outgrows the integers of a kernel."""
        if op in ("add", "sub"):
            return self._sum(op, a, b)
        if op in ("mul", "shl"):
            return _bounded(self._product(op, a, b))
        if op in ("min", "max"):
            return self._extremum(op, a, b)
        return apply(_PLAIN[op], a, b)

    def _product(self, op: str, a: Tile, b: Tile) -> Tile:
        if op == "mul" and (a.single or b.single):
            return self._multiple(a, b.base) if b.single else self._multiple(b, a.base)
        if op == "shl" and b.single and isinstance(b.base, int) and 0 <= b.base < 64:
            return self._multiple(a, 1 << b.base)
        if op == "shl" and any(isinstance(x, int) and not 0 <= x < 64 for x in b.data):
            raise Unresolved("shift by more bits than there are")
        return apply(_PLAIN[op], a, b)

    def _sum(self, op: str, a: Tile, b: Tile) -> Tile:
        rank = max(a.rank, b.rank)
        a, b = aligned(a, rank), aligned(b, rank)
        taint = union_taint((a, b))
        base = a.base + b.base if op == "add" else a.base - b.base
        if b.single:
            return Tile(a.dims, a.relative, taint, base)
        if a.single and op == "add":
            return Tile(b.dims, b.relative, taint, base)
        dims = tuple(map(max, a.dims, b.dims))
        function = operator.add if op == "add" else operator.sub

        def make() -> list[Any]:
            return list(map(function, spread(a.relative, a.dims, dims), spread(b.relative, b.dims, dims)))

        key = (op, id(a.relative), a.dims, id(b.relative), b.dims)
        return Tile(dims, self.once(key, (a.relative, b.relative), make), taint, base)

    def _multiple(self, tile: Tile, factor: Any) -> Tile:
        if factor == 1 or tile.single:
            return Tile(tile.dims, tile.relative, tile.taint_axes, tile.base * factor)
        values = self.once(
            ("mul", id(tile.relative), factor), tile.relative, lambda: [factor * x for x in tile.relative]
        )
        return Tile(tile.dims, values, tile.taint_axes, tile.base * factor)

    def _extremum(self, op: str, a: Tile, b: Tile) -> Tile:
        if a.rank == b.rank and not a.tainted and not b.tainted:
            first = self.decided("le" if op == "min" else "ge", a, b)
            if first is not None:
                return a if first else b
        return apply(min if op == "min" else max, a, b)

    def decided(self, predicate: str, a: Tile, b: Tile) -> bool | None:
        """Whether ``a predicate b`` holds for all elements (True) or for none (False), else None."""
        (low_a, high_a), (low_b, high_b) = self.range(a.relative), self.range(b.relative)
        low, high = a.base + low_a - b.base - high_b, a.base + high_a - b.base - low_b
        if predicate in ("gt", "ge"):
            low, high, predicate = -high, -low, "lt" if predicate == "gt" else "le"
        if predicate == "lt":
            return True if high < 0 else False if low >= 0 else None
        if predicate == "le":
            return True if high <= 0 else False if low > 0 else None
        apart = low > 0 or high < 0
        equal = low == high == 0
        if not apart and not equal:
            return None
        return equal if predicate == "eq" else apart

    def compare(self, predicate: str, a: Tile, b: Tile) -> Tile:
        rank = max(a.rank, b.rank)
        a, b = aligned(a, rank), aligned(b, rank)
        taint = union_taint((a, b))
        every = self.decided(predicate, a, b)
        if every is not None:
            return Tile((1,) * rank, ZERO, taint, every)
        dims = tuple(map(max, a.dims, b.dims))
        shift = a.base - b.base

        def make() -> list[Any]:
            left = [shift + x for x in spread(a.relative, a.dims, dims)]
            return list(map(_COMPARE[predicate], left, spread(b.relative, b.dims, dims)))

        key = (predicate, id(a.relative), a.dims, id(b.relative), b.dims, shift)
        return Tile(dims, self.once(key, (a.relative, b.relative), make), taint)

    def divide(self, op: str, a: Tile, b: Tile, floor: bool) -> Tile:
        """Quotient ("div") or remainder ("mod"); ``floor`` rounds down as Python does, else towards zero."""
        divisor = b.base
        plain = b.single and type(divisor) is int and divisor > 0 and type(a.base) is int
        if plain and (floor or a.base + self.range(a.relative)[0] >= 0):
            return self._by_positive(op, a, divisor)
        if floor:
            return apply(operator.floordiv if op == "div" else operator.mod, a, b)
        return apply(truncated_quotient if op == "div" else truncated_remainder, a, b)

    def _by_positive(self, op: str, a: Tile, divisor: int) -> Tile:
        whole, rest = divmod(a.base, divisor)
        if a.single:
            return Tile(a.dims, ZERO, a.taint_axes, whole if op == "div" else rest)
        function = operator.floordiv if op == "div" else operator.mod
        values = self.once(
            (op, id(a.relative), rest, divisor),
            a.relative,
            lambda: [function(rest + x, divisor) for x in a.relative],
        )
        return Tile(a.dims, values, a.taint_axes, whole if op == "div" else 0)

    def conjunction(self, a: Tile, b: Tile) -> Tile:
        """``a and b`` of truth values."""
        rank = max(a.rank, b.rank)
        a, b = aligned(a, rank), aligned(b, rank)
        if a.single or b.single:
            one, other = (a, b) if a.single else (b, a)
            return other if one.base else Tile((1,) * rank, ZERO, union_taint((a, b)), False)
        dims = tuple(map(max, a.dims, b.dims))

        def make() -> list[Any]:
            return [
                x and y
                for x, y in zip(spread(a.data, a.dims, dims), spread(b.data, b.dims, dims), strict=True)
            ]

        key = ("and", id(a.data), a.dims, id(b.data), b.dims)
        return Tile(dims, self.once(key, (a.data, b.data), make), union_taint((a, b)))
