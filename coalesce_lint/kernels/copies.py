"""Accesses through buffers and asynchronous copies (Gluon, TLX)."""

from __future__ import annotations

from coalesce_lint.access import Place
from coalesce_lint.index.nodes import Node, const
from coalesce_lint.kernels.addresses import loaded, numbers, record
from coalesce_lint.kernels.descriptors import descriptor_load, descriptor_store
from coalesce_lint.kernels.reading import Meaning, Reading
from coalesce_lint.kernels.values import Arguments, Desc, Tup, Value
from coalesce_lint.reasons import Reason


def _buffer_load(it: Reading, args: Arguments, place: Place) -> Value:
    base, offsets = it.number(args.get(0, "ptr")), it.number(args.get(1, "offsets"))
    address = it.build.binary("add", base, offsets)
    mask = args.keywords.get("mask")
    record(it, "load", place, address, mask, None, args)
    return loaded(it, address, mask, None)


def _buffer_store(it: Reading, args: Arguments, place: Place) -> Value:
    value, base = args.get(0, "stored_value"), it.number(args.get(1, "ptr"))
    address = it.build.binary("add", base, it.number(args.get(2, "offsets")))
    record(it, "store", place, address, args.keywords.get("mask"), value, args)
    return const(None)


def _async_copy_in(it: Reading, args: Arguments, place: Place) -> Value:
    """``async_copy_global_to_shared(smem, pointer)`` or its TMA form ``(desc, coord, barrier, smem)``."""
    first, second = args.get(0, "smem"), args.get(1, "pointer")
    if isinstance(first, Desc) or isinstance(second, Tup):
        return descriptor_load(it, first, second, args, place)
    if isinstance(second, Node):
        record(it, "load", place, second, args.keywords.get("mask"), None, args)
    return const(None)


def _async_copy_out(it: Reading, args: Arguments, place: Place) -> Value:
    desc, coord = args.get(0, "tensor_desc"), args.get(1, "coord")
    return descriptor_store(it, desc, coord, None, args, place)


def _tlx_async_load(it: Reading, args: Arguments, place: Place) -> Value:
    pointer, second = args.get(0, "src"), args.get(1, "offsets")
    if isinstance(second, Tup):  # a descriptor: tdm.async_load(desc, offsets, destination)
        descriptor_load(it, pointer, second, args, place)
    elif isinstance(pointer, Node):
        record(it, "load", place, pointer, args.keywords.get("mask"), None, args)
    return const(None)


def _async_store(it: Reading, args: Arguments, place: Place) -> Value:
    desc, offsets = args.get(0, "dest"), args.get(1, "offsets")
    if isinstance(offsets, Tup):
        return descriptor_store(it, desc, offsets, None, args, place)
    return const(None)


def _tlx_descriptor_load(it: Reading, args: Arguments, place: Place) -> Value:
    return descriptor_load(it, args.get(0, "desc"), args.get(2, "offsets"), args, place)


def _tlx_descriptor_store(it: Reading, args: Arguments, place: Place) -> Value:
    return descriptor_store(it, args.get(0, "desc"), args.get(2, "offsets"), None, args, place)


def _update_descriptor(it: Reading, args: Arguments, place: Place) -> Value:
    """``tdm.update_tensor_descriptor(desc, add_offsets)``: the descriptor of the box moved on."""
    desc, moved = args.get(0, "desc"), args.get(1, "add_offsets")
    if not isinstance(desc, Desc):
        return it.build.opaque(Reason.DESCRIPTOR.why, shape=None)
    base = desc.base
    for step, stride in zip(numbers(it, moved), desc.strides, strict=False):
        base = it.build.binary("add", base, it.build.binary("mul", step, stride))
    return Desc(base, desc.shape, desc.strides, desc.block, desc.host, desc.place)


TABLE: dict[str, Meaning] = {
    "buffer_load": _buffer_load,
    "buffer_store": _buffer_store,
    "buffer_load_to_shared": lambda it, a, p: _buffer_load(it, Arguments(a.positional[1:], a.keywords), p),
    "async_copy_global_to_shared": _async_copy_in,
    "async_copy_shared_to_global": _async_copy_out,
    "update_tensor_descriptor": _update_descriptor,
    "async_load": _tlx_async_load,
    "async_store": _async_store,
    "async_descriptor_load": _tlx_descriptor_load,
    "async_descriptor_store": _tlx_descriptor_store,
}
