"""Indexing of tiles and the attributes of values."""

from __future__ import annotations

import ast
from typing import Any

from coalesce_lint.index.nodes import Node, const
from coalesce_lint.kernels.reading import Reading
from coalesce_lint.kernels.values import BlockPtr, Bound, Desc, DType, Tup, Value
from coalesce_lint.kernels.words import words
from coalesce_lint.reasons import Reason


def index(it: Reading, value: Node, parts: list[Any]) -> Value:
    """``x[:, None]`` and its kin: new axes of extent 1."""
    kinds: list[str] = []
    for part in parts:
        if isinstance(part, ast.Slice):
            if part.lower is not None or part.upper is not None or part.step is not None:
                return it.build.opaque(Reason.SLICE.why, value, shape=None)
            kinds.append(":")
        elif isinstance(part, ast.Constant) and part.value is ...:
            kinds.append("...")
        elif isinstance(part, ast.Constant) and part.value is None:
            kinds.append("None")
        else:
            return it.build.opaque(Reason.TILE_SUBSCRIPT.why, value, shape=None)
    kept = kinds.count(":")
    if value.shape is None or (value.op == "param" and value.shape == () and kept):
        if "..." in kinds:
            return it.build.opaque(Reason.TILE_RANK.why, value, shape=None)
        value = unknown_tile(it, value, kept)
    rank = len(value.shape or ())
    if "..." in kinds:
        at = kinds.index("...")
        kinds[at : at + 1] = [":"] * (rank - kept)
    elif kept < rank:
        kinds += [":"] * (rank - kept)
    out = value
    for axis, kind in enumerate(kinds):
        if kind == "None":
            out = expand(it, out, axis)
    return out


def unknown_tile(it: Reading, value: Node, rank: int) -> Node:
    """A tile of this rank of which nothing else is known (an argument of an unknown caller)."""
    reason = value.attr if value.op == "opaque" else Reason.UNKNOWN_CALLER.of(value.attr)
    if value.op not in ("opaque", "param"):
        reason = "tile of unknown shape"
    known = it.unknown_tiles
    key = (id(value), rank)
    if key not in known:
        dims = tuple(it.build.opaque(Reason.EXTENT.of(k)) for k in range(rank))
        known[key] = it.build.make("opaque", (), reason, dims)
    return known[key]


def expand(it: Reading, value: Node, axis: int) -> Node:
    """A new axis of extent 1 at ``axis``."""
    if value.shape is None:
        return it.build.make("expand", (value,), axis, None, value.type)
    shape = (*value.shape[:axis], 1, *value.shape[axis:])
    return it.build.make("expand", (value,), axis, shape, value.type)


def permute(it: Reading, value: Node, order: list[int] | None) -> Node:
    """Axis k of the result is axis order[k] of the value; None reverses the last two axes."""
    if value.shape is None:
        return it.build.opaque(Reason.TRANSPOSE_RANK.why, value, shape=None)
    rank = len(value.shape)
    if order is None:
        order = [*range(rank - 2), rank - 1, rank - 2] if rank >= 2 else list(range(rank))
    order = [k % rank if rank else 0 for k in order]
    if sorted(order) != list(range(rank)):
        return it.build.opaque(Reason.TRANSPOSE.why, value, shape=None)
    return it.build.make("trans", (value,), tuple(order), tuple(value.shape[k] for k in order), value.type)


def reshape(it: Reading, value: Node, shape: tuple[Any, ...] | None) -> Node:
    if shape is None:
        return it.build.opaque(Reason.RESHAPE.why, value, shape=None)
    if value.shape == ():
        return it.build.make("broadcast", (value,), None, shape, value.type)
    return it.build.make("reshape", (value,), None, _completed(value.shape, shape), value.type)


def _completed(old: tuple[Any, ...] | None, new: tuple[Any, ...]) -> tuple[Any, ...]:
    """A -1 among the new extents is worked out where the others are numbers."""
    if -1 not in new or old is None or not all(isinstance(d, int) for d in (*old, *new)):
        return new
    total = 1
    for d in old:
        total *= d
    known = 1
    for d in new:
        known *= d if d != -1 else 1
    return tuple(total // known if d == -1 and known else d for d in new)


def attribute(it: Reading, base: Value, name: str) -> Value:
    """An attribute of a tile, a descriptor or a parameter."""
    if name in ("dtype", "type", "element_ty", "scalar"):
        return DType()
    if isinstance(base, Desc) and name in ("shape", "strides", "block_shape"):
        values = {"shape": base.shape, "strides": base.strides, "block_shape": base.block}[name]
        return Tup([v if isinstance(v, Node) else const(v) for v in values])
    if isinstance(base, Node):
        if name == "shape" and base.shape:
            return Tup([d if isinstance(d, Node) else const(d) for d in base.shape])
        if name == "T":
            return permute(it, base, None)
        if name == "value" and base.op != "opaque":
            return base
        if base.op == "param" and name not in METHODS:
            return it.element(base, name)
        if name in ("numel", "data", "handle"):
            return it.build.opaque(Reason.ATTRIBUTE.of(name))
    if isinstance(base, BlockPtr) and name not in METHODS:
        return DType()
    return Bound(base, name)


METHODS = words(
    "to cast trans permute reshape view ravel broadcast_to expand_dims sum max min argmax argmin cumsum "
    "cumprod sort flip split item abs load store gather scatter advance logical_and logical_or "
    "atomic_add atomic_max atomic_min atomic_and atomic_or atomic_xor exp log sqrt sigmoid "
    "associative_scan reduce gather bitcast slice index permute __add__ get_layout mul add sub floordiv "
    "mod"
)
