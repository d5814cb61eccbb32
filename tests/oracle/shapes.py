"""The functions of ``triton.language`` that move lanes: broadcast, transpose, reshape, join ..."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dtypes import OracleUnsupported
from .values import Tile, as_int, shape_of, tile


def broadcast_to(x: Any, *shape: Any) -> Tile:
    x = tile(x)
    return Tile(np.broadcast_to(x.data, shape_of(shape)), x.dtype)


def broadcast(x: Any, y: Any) -> tuple[Tile, Tile]:
    x, y = tile(x), tile(y)
    left, right = np.broadcast_arrays(x.data, y.data)
    return Tile(left, x.dtype), Tile(right, y.dtype)


def expand_dims(x: Any, axis: Any) -> Tile:
    x = tile(x)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    return Tile(np.expand_dims(x.data, tuple(as_int(a) for a in axes)), x.dtype)


def trans(x: Tile, *dims: Any) -> Tile:
    if not dims:
        if x.data.ndim < 2:
            raise OracleUnsupported("transposition of a 1-D tile")
        return x.T
    return permute(x, *dims)


def permute(x: Tile, *dims: Any) -> Tile:
    return Tile(np.transpose(x.data, shape_of(dims)), x.dtype)


def reshape(x: Any, *shape: Any, **_kwargs: Any) -> Tile:
    x = tile(x)
    sizes = [s for s in shape if not isinstance(s, bool)]  # a trailing can_reorder
    return Tile(np.reshape(x.data, shape_of(sizes)), x.dtype)


def ravel(x: Tile, *_args: Any, **_kwargs: Any) -> Tile:
    return Tile(np.reshape(x.data, -1), x.dtype)


def join(a: Any, b: Any) -> Tile:
    left, right = broadcast(a, b)
    return Tile(np.stack([left.data, right.data], axis=-1), left.dtype)


def split(x: Tile) -> tuple[Tile, Tile]:
    if x.data.ndim == 0 or x.data.shape[-1] != 2:
        raise OracleUnsupported("split of a tile whose last axis is not 2 long")
    return Tile(x.data[..., 0], x.dtype), Tile(x.data[..., 1], x.dtype)


def interleave(a: Any, b: Any) -> Tile:
    both = join(a, b)
    return Tile(both.data.reshape(*both.shape[:-2], -1), both.dtype)


def cat(a: Tile, b: Tile, *_args: Any, dim: Any = 0, **_kwargs: Any) -> Tile:
    return Tile(np.concatenate([a.data, b.data], axis=as_int(dim)), a.dtype)


def flip(x: Tile, dim: Any = None) -> Tile:
    return Tile(np.flip(x.data, axis=x.data.ndim - 1 if dim is None else as_int(dim)), x.dtype)


def gather(source: Tile, index: Tile, axis: Any) -> Tile:
    extent = source.shape[as_int(axis)]
    return Tile(np.take_along_axis(source.data, index.data % extent, axis=as_int(axis)), source.dtype)


SHAPES: dict[str, Any] = {
    "broadcast": broadcast,
    "broadcast_to": broadcast_to,
    "cat": cat,
    "expand_dims": expand_dims,
    "flip": flip,
    "gather": gather,
    "interleave": interleave,
    "join": join,
    "permute": permute,
    "ravel": ravel,
    "reshape": reshape,
    "split": split,
    "trans": trans,
    "view": reshape,
}
