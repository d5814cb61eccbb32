"""Reductions, scans and sorts. The lanes' order and the result's shape matter here, the rounding does not."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dtypes import OracleUnsupported, int32
from .values import Tile, as_int, tile


def _axis(x: Tile, axis: Any) -> int | None:
    return None if axis is None else as_int(axis) % max(1, x.data.ndim)


def _plain(x: Tile) -> np.ndarray:
    return x.data.astype(np.int64) if x.data.dtype.kind == "b" else x.data


def fold(function: Any):
    """A reduction of numpy as ``tl.<name>(x, axis, keep_dims)``."""

    def apply(
        x: Any, axis: Any = None, *_args: Any, keep_dims: bool = False, dtype: Any = None, **kwargs: Any
    ) -> Any:
        x = tile(x)
        along = _axis(x, axis)
        data = function(_plain(x), axis=along, keepdims=bool(keep_dims))
        result = Tile(data, x.dtype if dtype is None else dtype)
        if kwargs.get("return_indices"):
            which = np.argmax if function is np.max else np.argmin
            return result, Tile(which(x.data, axis=along, keepdims=bool(keep_dims)), int32)
        return result

    return apply


def place_of(function: Any):
    """``argmax`` and ``argmin``."""

    def apply(x: Tile, axis: Any = None, *_args: Any, keep_dims: bool = False, **_kwargs: Any) -> Tile:
        return Tile(function(_plain(x), axis=_axis(x, axis), keepdims=bool(keep_dims)), int32)

    return apply


def running_fold(function: Any):
    """``cumsum`` and ``cumprod``."""

    def apply(x: Tile, axis: Any = 0, reverse: Any = False, **_kwargs: Any) -> Tile:
        along = _axis(x, axis)
        data = np.flip(_plain(x), axis=along) if reverse else _plain(x)
        result = function(data, axis=along)
        dtype = int32 if x.data.dtype.kind == "b" else x.dtype
        return Tile(np.flip(result, axis=along) if reverse else result, dtype)

    return apply


def _slices(tiles: tuple[Tile, ...], axis: int, index: int) -> list[Tile]:
    return [Tile(np.take(t.data, index, axis=axis), t.dtype) for t in tiles]


def _combined(function: Any, left: list[Tile], right: list[Tile]) -> list[Tile]:
    result = function(*left, *right)
    return [tile(r) for r in result] if isinstance(result, (tuple, list)) else [tile(result)]


def reduce(x: Any, axis: Any = None, function: Any = None, keep_dims: bool = False, **_kwargs: Any) -> Any:
    """``tl.reduce``: the combining function applied from the first lane to the last."""
    tiles = x if isinstance(x, tuple) else (x,)
    along = _axis(tiles[0], axis)
    if along is None:
        tiles, along = tuple(Tile(t.data.reshape(-1), t.dtype) for t in tiles), 0
    state = _slices(tiles, along, 0)
    for index in range(1, tiles[0].shape[along]):
        state = _combined(function, state, _slices(tiles, along, index))
    if keep_dims:
        state = [Tile(np.expand_dims(s.data, along), s.dtype) for s in state]
    return tuple(state) if isinstance(x, tuple) else state[0]


def associative_scan(x: Any, axis: Any, function: Any, reverse: Any = False, **_kwargs: Any) -> Any:
    """``tl.associative_scan``: as ``reduce``, and every intermediate state is kept."""
    tiles = x if isinstance(x, tuple) else (x,)
    along = _axis(tiles[0], axis)
    if along is None:
        raise OracleUnsupported("a scan without an axis")
    order = list(range(tiles[0].shape[along]))
    if reverse:
        order.reverse()
    states = [_slices(tiles, along, order[0])]
    for index in order[1:]:
        states.append(_combined(function, states[-1], _slices(tiles, along, index)))
    if reverse:
        states.reverse()
    out = [
        Tile(np.stack([s[k].data for s in states], axis=along), states[0][k].dtype) for k in range(len(tiles))
    ]
    return tuple(out) if isinstance(x, tuple) else out[0]


def sort(x: Tile, dim: Any = None, descending: Any = False) -> Tile:
    along = x.data.ndim - 1 if dim is None else as_int(dim)
    data = np.sort(x.data, axis=along)
    return Tile(np.flip(data, axis=along) if descending else data, x.dtype)


def topk(x: Tile, k: Any, dim: Any = None) -> Tile:
    best = sort(x, dim, descending=True)
    return Tile(best.data[..., : as_int(k)], best.dtype)


def histogram(x: Tile, bins: Any, *_args: Any, **_kwargs: Any) -> Tile:
    return Tile(np.bincount(np.clip(x.data.reshape(-1), 0, as_int(bins) - 1), minlength=as_int(bins)), int32)


def _xor(data: np.ndarray, axis: int | None = None, keepdims: bool = False) -> np.ndarray:
    return np.bitwise_xor.reduce(data, axis=axis, keepdims=keepdims)


def _or(data: np.ndarray, axis: int | None = None, keepdims: bool = False) -> np.ndarray:
    return np.bitwise_or.reduce(data, axis=axis, keepdims=keepdims)


REDUCTIONS: dict[str, Any] = {
    "sum": fold(np.sum),
    "max": fold(np.max),
    "min": fold(np.min),
    "xor_sum": fold(_xor),
    "reduce_or": fold(_or),
    "argmax": place_of(np.argmax),
    "argmin": place_of(np.argmin),
    "cumsum": running_fold(np.cumsum),
    "cumprod": running_fold(np.cumprod),
    "reduce": reduce,
    "associative_scan": associative_scan,
    "sort": sort,
    "topk": topk,
    "histogram": histogram,
}
