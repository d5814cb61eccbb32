"""Accesses to global memory, each turned into one address expression.

Plain pointers, block pointers and atomics are read here, descriptors and asynchronous copies in their own
modules.
"""

from __future__ import annotations

from typing import Any

from coalesce_lint.access import Place
from coalesce_lint.index.nodes import Node, const
from coalesce_lint.kernels import copies, descriptors
from coalesce_lint.kernels.addresses import loaded, numbers, record, tile_address, tile_bounds
from coalesce_lint.kernels.build import int_value
from coalesce_lint.kernels.descriptors import descriptor_load, descriptor_store
from coalesce_lint.kernels.reading import Meaning, Reading
from coalesce_lint.kernels.values import Arguments, BlockPtr, Desc, Tup, Value
from coalesce_lint.kernels.words import words
from coalesce_lint.reasons import Reason

_ATOMICS = words("atomic_add atomic_max atomic_min atomic_and atomic_or atomic_xor atomic_xchg atomic_cas")


def _load(it: Reading, args: Arguments, place: Place) -> Value:
    pointer = args.get(0, "pointer", args.keywords.get("ptr"))
    mask, other = args.get(1, "mask"), args.get(2, "other")
    if isinstance(pointer, Desc):
        return descriptor_load(it, pointer, args.get(1, "offsets"), args, place)
    if isinstance(pointer, BlockPtr):
        address = tile_address(it, pointer.base, pointer.offsets, pointer.strides, pointer.block)
        record(it, "load", place, address, None, None, args, **_block_options(pointer, args))
        return loaded(it, address, None, None)
    if not isinstance(pointer, Node):
        if isinstance(pointer, Tup):
            return Tup([_load_one(it, p, mask, other, args, place) for p in pointer.items])
        return it.build.opaque(Reason.NO_POINTER.why, shape=None)
    return _load_one(it, pointer, mask, other, args, place)


def _load_one(it: Reading, pointer: Value, mask: Value, other: Value, args: Arguments, place: Place) -> Value:
    if isinstance(pointer, BlockPtr):
        return _load(it, Arguments([pointer], args.keywords), place)
    address = it.number(pointer)
    record(it, "load", place, address, mask, None, args)
    return loaded(it, address, mask, other)


def _block_options(pointer: BlockPtr, args: Arguments) -> dict[str, Any]:
    """The options of a block-pointer access: boundary_check, padding_option, and the mask they make."""
    first = 3
    check = args.get(first, "boundary_check")
    dims = [int_value(v) for v in check.items] if isinstance(check, Tup) else None
    if isinstance(check, Node) and int_value(check) is not None:
        dims = [int_value(check)]
    padding = args.get(first + 1, "padding_option")
    text = padding.attr if isinstance(padding, Node) and padding.op == "const" else padding
    return {
        "block_ptr": pointer,
        "boundary_check": dims,
        "padding_option": text or None,
        "bounds": tile_bounds(pointer, dims),
    }


def _store(it: Reading, args: Arguments, place: Place) -> Value:
    pointer, value = args.get(0, "pointer", args.keywords.get("ptr")), args.get(1, "value")
    mask = args.get(2, "mask")
    if isinstance(pointer, Desc):
        return descriptor_store(it, pointer, args.get(1, "offsets"), args.get(2, "value"), args, place)
    if isinstance(pointer, BlockPtr):
        address = tile_address(it, pointer.base, pointer.offsets, pointer.strides, pointer.block)
        record(it, "store", place, address, None, value, args, **_block_options(pointer, args))
    elif isinstance(pointer, Node):
        record(it, "store", place, pointer, mask, value, args)
    return const(None)


def _atomic(op: str) -> Meaning:
    def meaning(it: Reading, args: Arguments, place: Place) -> Value:
        pointer, value = args.get(0, "pointer"), args.get(1, "val")
        mask = None if op == "atomic_cas" else args.get(2, "mask")
        if not isinstance(pointer, Node):
            return it.build.opaque(Reason.NO_ATOMIC_POINTER.why, shape=None)
        record(it, op, place, pointer, mask, value, args)
        return loaded(it, pointer, mask, None)

    return meaning


def _make_block_ptr(it: Reading, args: Arguments, place: Place) -> Value:
    base = args.get(0, "base")
    shape, strides, offsets, block = (
        args.get(k, n) for k, n in ((1, "shape"), (2, "strides"), (3, "offsets"), (4, "block_shape"))
    )
    dims = it.shape_of(block)
    if not isinstance(base, Node) or dims is None or not isinstance(strides, Tup):
        return it.build.opaque(Reason.BLOCK_POINTER.why, shape=None)
    order = args.get(5, "order")
    axes = [int_value(v) for v in order.items] if isinstance(order, Tup) else None
    return BlockPtr(
        base, numbers(it, shape), numbers(it, strides), numbers(it, offsets), list(dims), axes, place
    )


def _advance(it: Reading, args: Arguments, place: Place) -> Value:
    p, steps = args.get(0, "base"), args.get(1, "offsets")
    if not isinstance(p, BlockPtr):
        return it.build.opaque(Reason.ADVANCE.why, shape=None)
    moved = [
        it.build.binary("add", o, s) for o, s in zip(p.offsets, numbers(it, steps), strict=False)
    ] or p.offsets
    return BlockPtr(p.base, p.shape, p.strides, moved, p.block, p.order, p.place)


TABLE: dict[str, Meaning] = {
    "load": _load,
    "store": _store,
    **{name: _atomic(name) for name in _ATOMICS},
    "make_block_ptr": _make_block_ptr,
    "advance": _advance,
    **descriptors.TABLE,
    **copies.TABLE,
}
