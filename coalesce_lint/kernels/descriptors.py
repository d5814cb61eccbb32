"""Accesses through tensor descriptors, made in the kernel or by the host."""

from __future__ import annotations

from coalesce_lint.access import Place
from coalesce_lint.index.nodes import Node, const
from coalesce_lint.kernels.addresses import loaded, numbers, record, tile_address
from coalesce_lint.kernels.build import broadcast_shapes, dim_of
from coalesce_lint.kernels.reading import Meaning, Reading
from coalesce_lint.kernels.values import Arguments, Desc, Tup, Value
from coalesce_lint.kernels.words import words
from coalesce_lint.reasons import Reason

METHODS = words("load store gather scatter atomic_add atomic_min atomic_max atomic_and atomic_or atomic_xor")


def _make_descriptor(it: Reading, args: Arguments, place: Place) -> Value:
    base, shape, strides, block = (
        args.get(k, n) for k, n in enumerate(("base", "shape", "strides", "block_shape"))
    )
    dims = it.shape_of(block)
    if not isinstance(base, Node) or not isinstance(strides, Tup) or dims is None:
        return it.build.opaque(Reason.DESCRIPTOR.why, shape=None)
    return Desc(base, numbers(it, shape), numbers(it, strides), list(dims), False, place)


def host_descriptor(it: Reading, param: Node, rank: int) -> Desc:
    """A descriptor that the host made: its last stride is 1 (Triton checks), the rest is not known here."""
    key = (id(param), rank)
    known = it.host_descriptors
    if key not in known:
        strides = [it.element(it.element(param, "strides"), k) for k in range(rank - 1)] + [const(1)]
        shape = [it.element(it.element(param, "shape"), k) for k in range(rank)]
        block = [it.element(it.element(param, "block_shape"), k) for k in range(rank)]
        known[key] = Desc(param, shape, strides, block, True)
    return known[key]


def _as_descriptor(it: Reading, value: Value, offsets: list[Node]) -> Desc | None:
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


def descriptor_load(it: Reading, desc: Value, offsets: Value, args: Arguments, place: Place) -> Value:
    where = numbers(it, offsets)
    d = _as_descriptor(it, desc, where)
    if d is None:
        return it.build.opaque(Reason.DESCRIPTOR_LOAD.why, shape=None)
    address = tile_address(it, d.base, where, d.strides, d.block)
    record(it, "descriptor_load", place, address, None, None, args, descriptor=d)
    return loaded(it, address, None, None)


def descriptor_store(
    it: Reading, desc: Value, offsets: Value, value: Value, args: Arguments, place: Place
) -> Value:
    where = numbers(it, offsets)
    d = _as_descriptor(it, desc, where)
    if d is not None:
        address = tile_address(it, d.base, where, d.strides, d.block)
        record(it, "descriptor_store", place, address, None, value, args, descriptor=d)
    return const(None)


def descriptor_method(it: Reading, owner: Value, name: str, args: Arguments, place: Place) -> Value | None:
    """``desc.load(offsets)`` and its kin; None where the owner is no descriptor.

    ``load`` and ``store`` of anything else are those of shared memory (Gluon), which are no global accesses.
    """
    offsets = args.get(0, "offsets", args.keywords.get("coord"))
    if name in ("load", "store"):
        known = isinstance(owner, Desc) or (
            isinstance(owner, Node) and owner.op in ("param", "phi", "carried")
        )
        if not known or not isinstance(offsets, Tup):
            return it.build.opaque(Reason.SHARED_MEMORY.why, shape=None)
        if name == "load":
            return descriptor_load(it, owner, offsets, args, place)
        return descriptor_store(it, owner, offsets, args.get(1, "value"), args, place)
    if not isinstance(owner, Desc) and not (isinstance(owner, Node) and owner.op == "param"):
        return None
    if name.startswith("atomic"):
        return descriptor_store(it, owner, args.get(0, "offsets"), args.get(1, "value"), args, place)
    if name in ("gather", "scatter"):
        first = 1 if name == "scatter" else 0
        rows, column = args.get(first, "x_offsets"), args.get(first + 1, "y_offset")
        return _descriptor_rows(it, owner, name, rows, column, args, place)
    return None


def _descriptor_rows(
    it: Reading, owner: Value, name: str, rows: Value, column: Value, args: Arguments, place: Place
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
    index = it.build.binary(
        "add", it.build.binary("mul", row, d.strides[0]), it.build.binary("add", col, column)
    )
    address = it.build.binary("add", d.base, index)
    address.shape = broadcast_shapes(row.shape, col.shape)
    op = "descriptor_load" if name == "gather" else "descriptor_store"
    record(it, op, place, address, None, None, args, descriptor=d)
    return loaded(it, address, None, None) if name == "gather" else const(None)


def _experimental_load(it: Reading, args: Arguments, place: Place) -> Value:
    desc = args.get(0, "desc_pointer")
    offsets, shape = args.get(1, "offsets"), args.get(2, "shape")
    if isinstance(desc, Node) and desc.op == "param" and it.shape_of(shape):
        d = host_descriptor(it, desc, len(numbers(it, offsets)))
        d.block = list(it.shape_of(shape) or d.block)
    return descriptor_load(it, desc, offsets, args, place)


def _experimental_store(it: Reading, args: Arguments, place: Place) -> Value:
    return descriptor_store(
        it, args.get(0, "desc_pointer"), args.get(2, "offsets"), args.get(1, "value"), args, place
    )


TABLE: dict[str, Meaning] = {
    "make_tensor_descriptor": _make_descriptor,
    "_experimental_make_tensor_descriptor": _make_descriptor,
    "_experimental_descriptor_load": _experimental_load,
    "experimental_descriptor_load": _experimental_load,
    "_experimental_descriptor_store": _experimental_store,
    "experimental_descriptor_store": _experimental_store,
    "load_tensor_descriptor": lambda it, a, p: descriptor_load(
        it, a.get(0, "desc"), a.get(1, "offsets"), a, p
    ),
    "store_tensor_descriptor": lambda it, a, p: descriptor_store(
        it, a.get(0, "desc"), a.get(1, "offsets"), a.get(2, "value"), a, p
    ),
}
