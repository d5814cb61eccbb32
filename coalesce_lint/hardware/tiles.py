"""Numbers of a tile, kept only along the axes on which they vary: the values of expression nodes for one
program.

A tile is a base and what its elements have more. Programs of a grid differ in the base of most tiles and
share the rest, so that most of the work is done once (``tile_arithmetic.py``).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from coalesce_lint.hardware.graph import Unresolved

#: What the element of a tile with one element has more than its base.
ZERO: list[Any] = [0]


class Tile:
    """``base + relative[k]``, row-major over ``dims``, where an axis on which the values do not vary has
    extent 1.

    ``taint_axes``: None, or the axes along which the numbers come from loaded data and were made up. Lists
    are never changed, for tiles share them.
    """

    __slots__ = ("_data", "base", "dims", "relative", "taint_axes")

    def __init__(
        self,
        dims: tuple[int, ...],
        relative: list[Any],
        taint_axes: frozenset[int] | None = None,
        base: Any = 0,
    ) -> None:
        if len(relative) == 1 and relative is not ZERO:
            base, relative = base + relative[0] if base else relative[0], ZERO
        self.dims = dims
        self.relative = relative
        self.taint_axes = taint_axes
        self.base = base
        self._data: list[Any] | None = None

    @property
    def data(self) -> list[Any]:
        """The values themselves."""
        if self._data is None:
            if self.relative is ZERO:
                self._data = [self.base]
            else:
                base = self.base
                self._data = [base + x for x in self.relative] if base else self.relative
        return self._data

    @property
    def single(self) -> bool:
        """True where all elements are equal by construction."""
        return self.relative is ZERO

    @property
    def tainted(self) -> bool:
        return self.taint_axes is not None

    @property
    def rank(self) -> int:
        return len(self.dims)

    def reshaped(self, dims: tuple[int, ...], taint_axes: frozenset[int] | None) -> Tile:
        """The same elements in the same order under other extents."""
        return Tile(dims, self.relative, taint_axes, self.base)


def scalar(value: Any) -> Tile:
    return Tile((), ZERO, None, value)


def aligned(tile: Tile, rank: int) -> Tile:
    """The tile with leading axes of extent 1 up to ``rank``."""
    more = rank - len(tile.dims)
    if more <= 0:
        return tile
    axes = None if tile.taint_axes is None else frozenset(a + more for a in tile.taint_axes)
    return tile.reshaped((1,) * more + tile.dims, axes)


def spread(data: list[Any], old: tuple[int, ...], dims: tuple[int, ...]) -> list[Any]:
    """Row-major ``data`` over ``old`` repeated over ``dims`` (same rank). Raises Unresolved unless each axis
    of ``old`` has extent 1 or that of ``dims``."""
    if old == dims:
        return data
    if len(data) == 1:
        return data * prod(dims)
    if any(a not in (1, b) for a, b in zip(old, dims, strict=True)):
        raise Unresolved("extents that do not fit together")
    extents = list(old)
    for axis, extent in enumerate(dims):
        if extents[axis] == extent:
            continue
        # Repeat each block of the axes behind this one.
        block = prod(extents[axis + 1 :])
        if block == 1:
            data = [x for x in data for _ in range(extent)]
        else:
            data = [x for k in range(0, len(data), block) for x in data[k : k + block] * extent]
        extents[axis] = extent
    return data


def stretched(tile: Tile, dims: tuple[int, ...]) -> list[Any]:
    """The values repeated over ``dims``."""
    return spread(tile.data, tile.dims, dims)


def union_taint(tiles: Sequence[Tile]) -> frozenset[int] | None:
    found = [t.taint_axes for t in tiles if t.taint_axes is not None]
    return frozenset().union(*found) if found else None


def apply(function: Callable[..., Any], *operands: Tile) -> Tile:
    """``function`` element by element, with broadcasting."""
    rank = max(t.rank for t in operands)
    tiles = [aligned(t, rank) for t in operands]
    taint = union_taint(tiles)
    first = tiles[0]
    if len(tiles) == 2:
        second = tiles[1]
        if first.dims == second.dims:
            return Tile(first.dims, list(map(function, first.data, second.data)), taint)
        if second.single:
            y = second.base
            return Tile(first.dims, [function(x, y) for x in first.data], taint)
        if first.single:
            x = first.base
            return Tile(second.dims, [function(x, y) for y in second.data], taint)
    dims = tuple(max(t.dims[k] for t in tiles) for k in range(rank))
    return Tile(dims, list(map(function, *(stretched(t, dims) for t in tiles))), taint)


#: Sums in parts: for each set of extents, values that are added up with broadcasting.
Parts = dict[tuple[int, ...], list[int]]


def total(parts: Parts, rank: int) -> Tile:
    """The sum of ``parts``, over the axes on which any of them varies."""
    dims = (1,) * rank
    data = [0]
    for more, values in sorted(parts.items(), key=lambda item: len(item[1])):
        both = tuple(map(max, dims, more))
        data = list(map(operator.add, spread(data, dims, both), spread(values, more, both)))
        dims = both
    return Tile(dims, data)


def varying_axes(tile: Tile) -> frozenset[int]:
    return frozenset(k for k, d in enumerate(tile.dims) if d > 1)


def expand(tile: Tile, axis: int) -> Tile:
    """A new axis of extent 1 before ``axis``."""
    axes = None if tile.taint_axes is None else frozenset(a + (a >= axis) for a in tile.taint_axes)
    return tile.reshaped((*tile.dims[:axis], 1, *tile.dims[axis:]), axes)


def transpose(tile: Tile, order: tuple[int, ...]) -> Tile:
    """Axis k of the result is axis order[k] of the tile."""
    dims = tuple(tile.dims[k] for k in order)
    axes = None if tile.taint_axes is None else frozenset(order.index(a) for a in tile.taint_axes)
    if [k for k in order if tile.dims[k] > 1] == sorted(k for k in order if tile.dims[k] > 1):
        return tile.reshaped(dims, axes)
    strides = [prod(tile.dims[k + 1 :]) for k in order]
    places = [0]
    for extent, stride in zip(dims, strides, strict=True):
        places = [p + i * stride for p in places for i in range(extent)]
    return Tile(dims, [tile.relative[p] for p in places], axes, tile.base)


def reshape(tile: Tile, old: tuple[int, ...], new: tuple[int, ...]) -> Tile:
    """Row-major reshape from ``old`` to ``new`` extents."""
    axes = None if tile.taint_axes is None else frozenset(range(len(new)))
    if tile.single:
        return tile.reshaped((1,) * len(new), axes)
    whole = aligned(tile, len(old))
    return Tile(new, spread(whole.relative, whole.dims, old), axes, tile.base)
