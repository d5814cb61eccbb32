"""Accesses as they are noted: their address as one expression, and everything that surrounds them."""

from __future__ import annotations

from typing import Any

from coalesce_lint.access import Place
from coalesce_lint.index.nodes import Node, const
from coalesce_lint.kernels.build import dim_of
from coalesce_lint.kernels.reading import Reading
from coalesce_lint.kernels.record import RawSite
from coalesce_lint.kernels.values import Arguments, BlockPtr, Tup, Value
from coalesce_lint.reasons import Reason


def record(
    it: Reading,
    op: str,
    place: Place,
    address: Node,
    mask: Value,
    value: Value,
    args: Arguments,
    **options: Any,
) -> RawSite:
    """Notes an access with everything that surrounds it."""
    site = RawSite(
        op,
        place,
        address,
        mask if isinstance(mask, Node) else None,
        value if isinstance(value, Node) else None,
        tuple(it.guards),
        tuple(f.loop for f in it.loops),
        tuple(it.chain),
        "",
        options,
    )
    it.sites.append(site)
    return site


def _scale(it: Reading, lanes_or_offset: Node, stride: Node) -> Node:
    return it.build.binary("mul", lanes_or_offset, stride)


def tile_address(it: Reading, base: Node, offsets: list[Node], strides: list[Node], block: list[Any]) -> Node:
    """base + sum over the dimensions of (offset + lane) * stride, as a tile of shape ``block``."""
    rank = len(block)
    address = base
    for k in range(min(rank, len(strides))):
        extent = block[k]
        end = extent if isinstance(extent, Node) else const(extent)
        lane = it.build.make("arange", (const(0), end), None, (dim_of(extent),), "i32")
        shape = tuple(dim_of(extent) if j == k else 1 for j in range(rank))
        for axis in range(rank):
            if axis != k:
                lane_shape = (*(lane.shape or ())[:axis], 1, *(lane.shape or ())[axis:])
                lane = it.build.make("expand", (lane,), axis, lane_shape, lane.type)
        lane.shape = shape
        index = it.build.binary("add", lane, _scalar(it, offsets[k])) if k < len(offsets) else lane
        address = it.build.binary("add", address, _scale(it, index, strides[k]))
    shape = tuple(dim_of(d) for d in block)
    return it.build.make("broadcast", (address,), None, shape, "ptr")


def tile_bounds(pointer: BlockPtr, checked: list[int | None] | None) -> Node | None:
    """What ``boundary_check`` makes of a block pointer: 0 <= offset + lane < size in the checked dimensions.

    The mask that Triton's RewriteTensorPointer generates, as nodes outside the kernel's own graph: nobody
    wrote these comparisons.
    """
    rank = len(pointer.block)
    whole = tuple(dim_of(d) for d in pointer.block)
    mask = None
    for k in checked or ():
        if k is None or not 0 <= k < min(rank, len(pointer.offsets), len(pointer.shape)):
            continue
        extent = pointer.block[k]
        end = extent if isinstance(extent, Node) else const(extent)
        index = Node("arange", (const(0), end), None, (whole[k],), "i32")
        index = Node("add", (index, pointer.offsets[k]), None, (whole[k],), "i64")
        for axis in range(rank):
            if axis != k:
                shape = (*(index.shape or ())[:axis], 1, *(index.shape or ())[axis:])
                index = Node("expand", (index,), axis, shape, "i64")
        inside = [Node("cmp", (index, const(0)), "ge", index.shape, "i1")]
        inside.append(Node("cmp", (index, pointer.shape[k]), "lt", index.shape, "i1"))
        both = Node("broadcast", (Node("and", tuple(inside), None, index.shape, "i1"),), None, whole, "i1")
        mask = both if mask is None else Node("and", (mask, both), None, whole, "i1")
    return mask


def _scalar(it: Reading, offset: Node) -> Node:
    """Offsets of block pointers and descriptors are scalars, also where their value is not understood."""
    if offset.shape is not None:
        return offset
    return it.build.make("opaque", (), offset.attr if offset.op == "opaque" else Reason.OFFSET.why, ())


def numbers(it: Reading, value: Value) -> list[Node]:
    if isinstance(value, Tup):
        return [it.number(v) for v in value.items]
    return [it.number(value)] if isinstance(value, Node) else []


def loaded(it: Reading, address: Node, mask: Value, other: Value) -> Node:
    inputs = [address]
    for x in (mask, other):
        if isinstance(x, Node) and x.op != "const" and x.shape:
            inputs.append(x)
    return it.build.make("load", tuple(inputs), len(it.sites) - 1, address.shape)
