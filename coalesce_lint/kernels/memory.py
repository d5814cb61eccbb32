"""Accesses to global memory: pointers, block pointers and descriptors, each turned into one address expression."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from coalesce_lint.access import Place
from coalesce_lint.index.nodes import Node, const
from coalesce_lint.kernels.build import broadcast_shapes, dim_of, int_value
from coalesce_lint.kernels.record import RawSite
from coalesce_lint.kernels.values import Arguments, BlockPtr, Desc, Tup, Value

if TYPE_CHECKING:
    from coalesce_lint.kernels.expressions import Expressions as It

DESCRIPTOR_METHODS = frozenset(
    "load store gather scatter atomic_add atomic_min atomic_max atomic_and atomic_or atomic_xor".split()
)
_ATOMICS = "atomic_add atomic_max atomic_min atomic_and atomic_or atomic_xor atomic_xchg atomic_cas".split()


def record(
    it: Any, op: str, place: Place, address: Node, mask: Value, value: Value, args: Arguments, **options: Any
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


def _scale(it: It, lanes_or_offset: Node, stride: Node) -> Node:
    return it.build.binary("mul", lanes_or_offset, stride)


def tile_address(it: It, base: Node, offsets: list[Node], strides: list[Node], block: list[Any]) -> Node:
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


def _scalar(it: It, offset: Node) -> Node:
    """Offsets of block pointers and descriptors are scalars, also where their value is not understood."""
    if offset.shape is not None:
        return offset
    return it.build.make("opaque", (), offset.attr if offset.op == "opaque" else "offset not understood", ())


def _numbers(it: It, value: Value) -> list[Node]:
    if isinstance(value, Tup):
        return [it.number(v) for v in value.items]
    return [it.number(value)] if isinstance(value, Node) else []


# -- plain pointers and block pointers ---------------------------------------------------------------------------------


def _load(it: It, args: Arguments, place: Place) -> Value:
    pointer = args.get(0, "pointer", args.keywords.get("ptr"))
    mask, other = args.get(1, "mask"), args.get(2, "other")
    if isinstance(pointer, Desc):
        return _descriptor_load(it, pointer, args.get(1, "offsets"), args, place)
    if isinstance(pointer, BlockPtr):
        address = tile_address(it, pointer.base, pointer.offsets, pointer.strides, pointer.block)
        record(it, "load", place, address, None, None, args, block_ptr=pointer, **_block_options(args, 3))
        return _loaded(it, address, None, None)
    if not isinstance(pointer, Node):
        if isinstance(pointer, Tup):
            return Tup([_load_one(it, p, mask, other, args, place) for p in pointer.items])
        return it.build.opaque("load through a value that is not a pointer", shape=None)
    return _load_one(it, pointer, mask, other, args, place)


def _load_one(it: It, pointer: Value, mask: Value, other: Value, args: Arguments, place: Place) -> Value:
    if isinstance(pointer, BlockPtr):
        return _load(it, Arguments([pointer], args.keywords), place)
    address = it.number(pointer)
    record(it, "load", place, address, mask, None, args)
    return _loaded(it, address, mask, other)


def _block_options(args: Arguments, first: int) -> dict[str, Any]:
    """boundary_check and padding_option of a block-pointer access."""
    check = args.get(first, "boundary_check")
    dims = [int_value(v) for v in check.items] if isinstance(check, Tup) else None
    if isinstance(check, Node) and int_value(check) is not None:
        dims = [int_value(check)]
    padding = args.get(first + 1, "padding_option")
    text = padding.attr if isinstance(padding, Node) and padding.op == "const" else padding
    return {"boundary_check": dims, "padding_option": text or None}


def _loaded(it: It, address: Node, mask: Value, other: Value) -> Node:
    inputs = [address]
    for x in (mask, other):
        if isinstance(x, Node) and x.op != "const" and x.shape:
            inputs.append(x)
    return it.build.make("load", tuple(inputs), len(it.sites) - 1, address.shape)  # type: ignore[attr-defined]


def _store(it: It, args: Arguments, place: Place) -> Value:
    pointer, value = args.get(0, "pointer", args.keywords.get("ptr")), args.get(1, "value")
    mask = args.get(2, "mask")
    if isinstance(pointer, Desc):
        return _descriptor_store(it, pointer, args.get(1, "offsets"), args.get(2, "value"), args, place)
    if isinstance(pointer, BlockPtr):
        address = tile_address(it, pointer.base, pointer.offsets, pointer.strides, pointer.block)
        record(it, "store", place, address, None, value, args, block_ptr=pointer, **_block_options(args, 3))
    elif isinstance(pointer, Node):
        record(it, "store", place, pointer, mask, value, args)
    return const(None)


def _atomic(op: str) -> Callable[[It, Arguments, Place], Value]:
    def meaning(it: It, args: Arguments, place: Place) -> Value:
        pointer, value = args.get(0, "pointer"), args.get(1, "val")
        mask = None if op == "atomic_cas" else args.get(2, "mask")
        if not isinstance(pointer, Node):
            return it.build.opaque("atomic through a value that is not a pointer", shape=None)
        record(it, op, place, pointer, mask, value, args)
        return _loaded(it, pointer, mask, None)

    return meaning


def _make_block_ptr(it: It, args: Arguments, place: Place) -> Value:
    base = args.get(0, "base")
    shape, strides, offsets, block = (
        args.get(k, n) for k, n in ((1, "shape"), (2, "strides"), (3, "offsets"), (4, "block_shape"))
    )
    dims = it.shape_of(block)
    if not isinstance(base, Node) or dims is None or not isinstance(strides, Tup):
        return it.build.opaque("block pointer", shape=None)
    order = args.get(5, "order")
    numbers = [int_value(v) for v in order.items] if isinstance(order, Tup) else None
    return BlockPtr(
        base, _numbers(it, shape), _numbers(it, strides), _numbers(it, offsets), list(dims), numbers, place
    )


def _advance(it: It, args: Arguments, place: Place) -> Value:
    p, steps = args.get(0, "base"), args.get(1, "offsets")
    if not isinstance(p, BlockPtr):
        return it.build.opaque("advance of a value that is not a block pointer", shape=None)
    moved = [
        it.build.binary("add", o, s) for o, s in zip(p.offsets, _numbers(it, steps), strict=False)
    ] or p.offsets
    return BlockPtr(p.base, p.shape, p.strides, moved, p.block, p.order, p.place)


# -- buffers and asynchronous copies (Gluon, TLX) ----------------------------------------------------------------------


def _buffer_load(it: It, args: Arguments, place: Place) -> Value:
    base, offsets = it.number(args.get(0, "ptr")), it.number(args.get(1, "offsets"))
    address = it.build.binary("add", base, offsets)
    mask = args.keywords.get("mask")
    record(it, "load", place, address, mask, None, args)
    return _loaded(it, address, mask, None)


def _buffer_store(it: It, args: Arguments, place: Place) -> Value:
    value, base = args.get(0, "stored_value"), it.number(args.get(1, "ptr"))
    address = it.build.binary("add", base, it.number(args.get(2, "offsets")))
    record(it, "store", place, address, args.keywords.get("mask"), value, args)
    return const(None)


def _async_copy_in(it: It, args: Arguments, place: Place) -> Value:
    """``async_copy_global_to_shared(smem, pointer)`` or its TMA form ``(desc, coord, barrier, smem)``."""
    first, second = args.get(0, "smem"), args.get(1, "pointer")
    if isinstance(first, Desc) or isinstance(second, Tup):
        return _descriptor_load(it, first, second, args, place)
    if isinstance(second, Node):
        record(it, "load", place, second, args.keywords.get("mask"), None, args)
    return const(None)


def _async_copy_out(it: It, args: Arguments, place: Place) -> Value:
    desc, coord = args.get(0, "tensor_desc"), args.get(1, "coord")
    return _descriptor_store(it, desc, coord, None, args, place)


def _tlx_async_load(it: It, args: Arguments, place: Place) -> Value:
    pointer, second = args.get(0, "src"), args.get(1, "offsets")
    if isinstance(second, Tup):  # a descriptor: tdm.async_load(desc, offsets, destination)
        _descriptor_load(it, pointer, second, args, place)
    elif isinstance(pointer, Node):
        record(it, "load", place, pointer, args.keywords.get("mask"), None, args)
    return const(None)


def _async_store(it: It, args: Arguments, place: Place) -> Value:
    desc, offsets = args.get(0, "dest"), args.get(1, "offsets")
    if isinstance(offsets, Tup):
        return _descriptor_store(it, desc, offsets, None, args, place)
    return const(None)


def _tlx_descriptor_load(it: It, args: Arguments, place: Place) -> Value:
    return _descriptor_load(it, args.get(0, "desc"), args.get(2, "offsets"), args, place)


def _tlx_descriptor_store(it: It, args: Arguments, place: Place) -> Value:
    return _descriptor_store(it, args.get(0, "desc"), args.get(2, "offsets"), None, args, place)


# -- descriptors -------------------------------------------------------------------------------------------------------


def _make_descriptor(it: It, args: Arguments, place: Place) -> Value:
    base, shape, strides, block = (
        args.get(k, n) for k, n in enumerate(("base", "shape", "strides", "block_shape"))
    )
    dims = it.shape_of(block)
    if not isinstance(base, Node) or not isinstance(strides, Tup) or dims is None:
        return it.build.opaque("tensor descriptor", shape=None)
    return Desc(base, _numbers(it, shape), _numbers(it, strides), list(dims), False, place)


def host_descriptor(it: Any, param: Node, rank: int) -> Desc:
    """A descriptor that the host made: its last stride is 1 (Triton checks), the rest is not known here."""
    key = (id(param), rank)
    known = it.__dict__.setdefault("_host_descriptors", {})
    if key not in known:
        strides = [it.element(it.element(param, "strides"), k) for k in range(rank - 1)] + [const(1)]
        shape = [it.element(it.element(param, "shape"), k) for k in range(rank)]
        block = [it.element(it.element(param, "block_shape"), k) for k in range(rank)]
        known[key] = Desc(param, shape, strides, block, True)
    return known[key]


def _as_descriptor(it: Any, value: Value, offsets: list[Node]) -> Desc | None:
    if isinstance(value, Desc):
        return value
    if isinstance(value, Node) and value.op == "param" and offsets:
        return host_descriptor(it, value, len(offsets))
    if isinstance(value, Node) and value.op in ("phi", "carried") and offsets:
        source = value
        while source.op in ("phi", "carried"):
            source = source.args[-1]
        if source.op == "param":
            return host_descriptor(it, source, len(offsets))
    return None


def _descriptor_load(it: It, desc: Value, offsets: Value, args: Arguments, place: Place) -> Value:
    where = _numbers(it, offsets)
    d = _as_descriptor(it, desc, where)
    if d is None:
        return it.build.opaque("load through a descriptor that is not known", shape=None)
    address = tile_address(it, d.base, where, d.strides, d.block)
    record(it, "descriptor_load", place, address, None, None, args, descriptor=d)
    return _loaded(it, address, None, None)


def _descriptor_store(it: It, desc: Value, offsets: Value, value: Value, args: Arguments, place: Place) -> Value:
    where = _numbers(it, offsets)
    d = _as_descriptor(it, desc, where)
    if d is not None:
        address = tile_address(it, d.base, where, d.strides, d.block)
        record(it, "descriptor_store", place, address, None, value, args, descriptor=d)
    return const(None)


def descriptor_method(it: It, owner: Value, name: str, args: Arguments, place: Place) -> Value | None:
    """``desc.load(offsets)`` and its kin; None where the owner is no descriptor.

    ``load`` and ``store`` of anything else are those of shared memory (Gluon), which are no global accesses.
    """
    offsets = args.get(0, "offsets", args.keywords.get("coord"))
    if name in ("load", "store"):
        known = isinstance(owner, Desc) or (isinstance(owner, Node) and owner.op in ("param", "phi", "carried"))
        if not known or not isinstance(offsets, Tup):
            return it.build.opaque("value in shared memory", shape=None)
        if name == "load":
            return _descriptor_load(it, owner, offsets, args, place)
        return _descriptor_store(it, owner, offsets, args.get(1, "value"), args, place)
    if not isinstance(owner, Desc) and not (isinstance(owner, Node) and owner.op == "param"):
        return None
    if name.startswith("atomic"):
        return _descriptor_store(it, owner, args.get(0, "offsets"), args.get(1, "value"), args, place)
    if name in ("gather", "scatter"):
        first = 1 if name == "scatter" else 0
        rows, column = args.get(first, "x_offsets"), args.get(first + 1, "y_offset")
        return _descriptor_rows(it, owner, name, rows, column, args, place)
    return None


def _descriptor_rows(
    it: It, owner: Value, name: str, rows: Value, column: Value, args: Arguments, place: Place
) -> Value | None:
    """Rows picked by an index tile, each row a contiguous piece."""
    if not isinstance(rows, Node) or not isinstance(column, Node):
        return None
    d = _as_descriptor(it, owner, [const(0), const(0)])
    if d is None or rows.shape is None or len(rows.shape) != 1:
        return None
    extent = d.block[-1]
    end = extent if isinstance(extent, Node) else const(extent)
    lane = it.build.make("arange", (const(0), end), None, (dim_of(extent),), "i32")
    row = it.build.make("expand", (rows,), 1, (*rows.shape, 1), rows.type)
    col = it.build.make("expand", (lane,), 0, (1, dim_of(extent)), lane.type)
    index = it.build.binary("add", it.build.binary("mul", row, d.strides[0]), it.build.binary("add", col, column))
    address = it.build.binary("add", d.base, index)
    address.shape = broadcast_shapes(row.shape, col.shape)
    op = "descriptor_load" if name == "gather" else "descriptor_store"
    record(it, op, place, address, None, None, args, descriptor=d)
    return _loaded(it, address, None, None) if name == "gather" else const(None)


def _experimental_load(it: It, args: Arguments, place: Place) -> Value:
    desc = args.get(0, "desc_pointer")
    offsets, shape = args.get(1, "offsets"), args.get(2, "shape")
    if isinstance(desc, Node) and desc.op == "param" and it.shape_of(shape):
        d = host_descriptor(it, desc, len(_numbers(it, offsets)))
        d.block = list(it.shape_of(shape) or d.block)
    return _descriptor_load(it, desc, offsets, args, place)


def _experimental_store(it: It, args: Arguments, place: Place) -> Value:
    return _descriptor_store(it, args.get(0, "desc_pointer"), args.get(2, "offsets"), args.get(1, "value"), args, place)


TABLE: dict[str, Callable[[It, Arguments, Place], Value]] = {
    "load": _load,
    "store": _store,
    **{name: _atomic(name) for name in _ATOMICS},
    "make_block_ptr": _make_block_ptr,
    "advance": _advance,
    "make_tensor_descriptor": _make_descriptor,
    "_experimental_make_tensor_descriptor": _make_descriptor,
    "load_tensor_descriptor": lambda it, a, p: _descriptor_load(it, a.get(0, "desc"), a.get(1, "offsets"), a, p),
    "store_tensor_descriptor": lambda it, a, p: _descriptor_store(
        it, a.get(0, "desc"), a.get(1, "offsets"), a.get(2, "value"), a, p
    ),
    "_experimental_descriptor_load": _experimental_load,
    "experimental_descriptor_load": _experimental_load,
    "_experimental_descriptor_store": _experimental_store,
    "experimental_descriptor_store": _experimental_store,
    "buffer_load": _buffer_load,
    "buffer_store": _buffer_store,
    "buffer_load_to_shared": lambda it, a, p: _buffer_load(it, Arguments(a.positional[1:], a.keywords), p),
    "async_copy_global_to_shared": _async_copy_in,
    "async_copy_shared_to_global": _async_copy_out,
    "async_load": _tlx_async_load,
    "async_store": _async_store,
    "async_descriptor_load": _tlx_descriptor_load,
    "async_descriptor_store": _tlx_descriptor_store,
}
