"""Numbers of a tile, kept only along the axes on which they vary: the values of expression nodes for one
program."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any


@dataclass
class Tile:
    """``data`` is row-major over ``dims``, where an axis on which the values do not vary has extent 1.

    ``tainted`` tells that the numbers come from loaded data and were made up; ``taint_axes`` are the axes
    along which they do.
    """

    dims: tuple[int, ...]
    data: list[Any]
    taint_axes: frozenset[int] | None = None

    @property
    def tainted(self) -> bool:
        return self.taint_axes is not None

    @property
    def rank(self) -> int:
        return len(self.dims)


def scalar(value: Any) -> Tile:
    return Tile((), [value])


def aligned(tile: Tile, rank: int) -> Tile:
    """The tile with leading axes of extent 1 up to ``rank``."""
    more = rank - len(tile.dims)
    if more <= 0:
        return tile
    axes = None if tile.taint_axes is None else frozenset(a + more for a in tile.taint_axes)
    return Tile((1,) * more + tile.dims, tile.data, axes)


def stretched(tile: Tile, dims: tuple[int, ...]) -> list[Any]:
    """The data repeated over ``dims`` (same rank; an axis of the tile has extent 1 or that of ``dims``)."""
    if tile.dims == dims:
        return tile.data
    if len(tile.data) == 1:
        return tile.data * prod(dims)
    data, old = tile.data, list(tile.dims)
    for axis, extent in enumerate(dims):
        if old[axis] == extent:
            continue
        # Repeat each block of the axes behind this one.
        block = prod(old[axis + 1 :])
        if block == 1:
            data = [x for x in data for _ in range(extent)]
        else:
            data = [x for k in range(0, len(data), block) for x in data[k : k + block] * extent]
        old[axis] = extent
    return data


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
        if len(second.data) == 1:
            y = second.data[0]
            return Tile(first.dims, [function(x, y) for x in first.data], taint)
        if len(first.data) == 1:
            x = first.data[0]
            return Tile(second.dims, [function(x, y) for y in second.data], taint)
    dims = tuple(max(t.dims[k] for t in tiles) for k in range(rank))
    return Tile(dims, list(map(function, *(stretched(t, dims) for t in tiles))), taint)


#: Sums in parts: for each set of extents, values that are added up with broadcasting.
Parts = dict[tuple[int, ...], tuple[int, ...]]


def total(parts: Parts, rank: int) -> Tile:
    """The sum of ``parts``, over the axes on which any of them varies."""
    dims = (1,) * rank
    data = [0]
    for more, values in sorted(parts.items(), key=lambda item: len(item[1])):
        both = tuple(map(max, dims, more))
        left, right = stretched(Tile(dims, data), both), stretched(Tile(more, list(values)), both)
        dims, data = both, list(map(operator.add, left, right))
    return Tile(dims, data)


def varying_axes(tile: Tile) -> frozenset[int]:
    return frozenset(k for k, d in enumerate(tile.dims) if d > 1)


def expand(tile: Tile, axis: int) -> Tile:
    """A new axis of extent 1 before ``axis``."""
    axes = None if tile.taint_axes is None else frozenset(a + (a >= axis) for a in tile.taint_axes)
    return Tile((*tile.dims[:axis], 1, *tile.dims[axis:]), tile.data, axes)


def transpose(tile: Tile, order: tuple[int, ...]) -> Tile:
    """Axis k of the result is axis order[k] of the tile."""
    dims = tuple(tile.dims[k] for k in order)
    axes = None if tile.taint_axes is None else frozenset(order.index(a) for a in tile.taint_axes)
    if [k for k in order if tile.dims[k] > 1] == sorted(k for k in order if tile.dims[k] > 1):
        return Tile(dims, tile.data, axes)
    strides = [prod(tile.dims[k + 1 :]) for k in order]
    places = [0]
    for extent, stride in zip(dims, strides, strict=True):
        places = [p + i * stride for p in places for i in range(extent)]
    return Tile(dims, [tile.data[p] for p in places], axes)


def reshape(tile: Tile, old: tuple[int, ...], new: tuple[int, ...]) -> Tile:
    """Row-major reshape from ``old`` to ``new`` extents."""
    axes = None if tile.taint_axes is None else frozenset(range(len(new)))
    if len(tile.data) == 1:
        return Tile((1,) * len(new), tile.data, axes)
    return Tile(new, stretched(aligned(tile, len(old)), old), axes)
