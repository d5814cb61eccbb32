"""The machine that a kernel runs on: it knows the program ids, hands out data, and records every access.

Addresses are bytes. Root pointer number k starts at (k + 1) * 2**44, far from every other, so an address says
which kernel argument it came from.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .dtypes import DType, OracleUnsupported, int1
from .values import Tile, as_int, shape_of, tile

ROOT_BITS = 44
MAX_STEPS = 20_000
#: A branch or a choice made at each lane, by its place in the source, and which way it went.
Taken = tuple[tuple[str, int, int], bool]


def _neighbours(lanes: np.ndarray) -> bool:
    """Whether two lanes next to each other along some axis are True, or the only lane is."""
    if lanes.size < 2:
        return bool(lanes.any())
    pairs = ((np.delete(lanes, 0, axis=k), np.delete(lanes, -1, axis=k)) for k in range(lanes.ndim))
    return any(bool((a & b).any()) for a, b in pairs)


def root_address(index: int) -> int:
    """The byte address of root pointer ``index``; divisible by any alignment that matters."""
    return (index + 1) << ROOT_BITS


def split_address(address: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(root index, byte offset) of addresses; index -1 where the address comes from no root pointer."""
    root = ((address + (1 << (ROOT_BITS - 1))) >> ROOT_BITS) - 1
    return root, address - ((root + 1) << ROOT_BITS)


def stored_value(address: np.ndarray, seed: int, table: int) -> np.ndarray:
    """What memory holds at a byte address: always the same for one seed.

    Any number in [0, table), or in [table, -table) where ``table`` is negative.
    """
    start = np.uint64(seed * 0x632BE59BD9B4E019 % 2**64)
    mixed = address.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + start
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = mixed ^ (mixed >> np.uint64(32))
    if table < 0:
        return (mixed % np.uint64(-2 * table)).astype(np.int64) + table
    return (mixed % np.uint64(table)).astype(np.int64)


@dataclass
class Record:
    """One execution of one access: where in the source, and the offset in elements of every lane."""

    line: int
    column: int
    op: str
    chain: tuple[tuple[str, int, int], ...]  #: the calls that led here: (path, line, column), outermost first
    path: str
    root: str  #: the name of the kernel argument, "?" where the address was loaded, "|" where lanes differ
    offset: np.ndarray  #: int64, in elements, with the tile's shape
    address: np.ndarray  #: int64, in bytes
    mask: np.ndarray | None
    program: tuple[int, int, int]
    element_bytes: int


@dataclass
class Machine:
    """One program instance of one launch. ``table`` bounds what loads return: 0 <= value < table."""

    program: tuple[int, int, int] = (0, 0, 0)
    grid: tuple[int, int, int] = (1, 1, 1)
    seed: int = 0
    table: int = 61
    roots: list[str] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    position: tuple[str, int, int] = ("", 0, 0)
    chain: list[tuple[str, int, int]] = field(default_factory=list)
    steps: int = 0
    taken: set[Taken] = field(default_factory=set)

    def step(self) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise OracleUnsupported("too many steps: a loop that is long or does not end")

    def chosen(self, condition: np.ndarray) -> None:
        """Notes which ways the lanes of a choice go: only neighbours that go the same way show its steps."""
        ways = [way for way in (False, True) if _neighbours(condition == way)] or [False]
        self.taken |= {(self.position, way) for way in ways}

    def record(self, op: str, address: Tile, mask: Any) -> None:
        if not isinstance(address, Tile) or not address.dtype.is_ptr():
            raise OracleUnsupported(f"{op} of something that is no pointer")
        data = address.data.astype(np.int64)
        root, byte_offset = split_address(data)
        first = int(root.flat[0]) if root.size else -1
        alike = bool((root == first).all())
        size = address.dtype.element_ty.bytes
        lanes = None if mask is None else np.broadcast_to(tile(mask).data != 0, data.shape)
        path, line, column = self.position
        self.records.append(
            Record(
                line=line,
                column=column,
                op=op,
                chain=tuple(self.chain),
                path=path,
                root="|" if not alike else self.roots[first] if 0 <= first < len(self.roots) else "?",
                offset=np.floor_divide(byte_offset, size) if alike else data // size,
                address=data,
                mask=lanes,
                program=self.program,
                element_bytes=size,
            )
        )

    def fetch(self, address: Tile, mask: Any, other: Any) -> Tile:
        """The data that a load returns; a lane that is masked off gets ``other``, or 0."""
        dtype = address.dtype.element_ty
        values: np.ndarray = stored_value(address.data, self.seed, self.table)
        if mask is not None:
            lanes = np.broadcast_to(tile(mask).data != 0, values.shape)
            fill = 0 if other is None else tile(other).data
            values = np.where(lanes, values, fill)
        return Tile(dtype.wrap(values), dtype)


_CURRENT: list[Machine] = [Machine()]


def machine() -> Machine:
    return _CURRENT[-1]


class running:
    """Context manager: ``with running(machine):`` makes it the one that accesses are recorded on."""

    def __init__(self, which: Machine) -> None:
        self.which = which

    def __enter__(self) -> Machine:
        _CURRENT.append(self.which)
        return self.which

    def __exit__(self, *_exc: object) -> None:
        _CURRENT.pop()


# -- block pointers and descriptors --------------------------------------------------------------------------


class Block:
    """A box of a tensor: base pointer, shape, strides and offsets by axis, and the extents of the box."""

    def __init__(self, base: Any, shape: Any, strides: Any, offsets: Any, extents: Any) -> None:
        if not isinstance(base, Tile) or not base.dtype.is_ptr():
            raise OracleUnsupported("a block pointer without a base pointer")
        self.base = base
        self.shape = tuple(tile(s) for s in shape)
        self.strides = tuple(tile(s) for s in strides)
        self.offsets = tuple(tile(o) for o in offsets)
        self.block_shape = shape_of(extents)
        if not len(self.shape) == len(self.strides) == len(self.offsets) == len(self.block_shape):
            raise OracleUnsupported("a block pointer whose ranks differ")

    @property
    def dtype(self) -> DType:
        return self.base.dtype.element_ty

    @property
    def type(self) -> DType:
        return self.base.dtype

    def moved(self, by: Any) -> Block:
        offsets = [o + b for o, b in zip(self.offsets, by, strict=True)]
        return Block(self.base, self.shape, self.strides, offsets, self.block_shape)

    def index(self, axis: int) -> np.ndarray:
        """The index along one axis of every lane of the box, shaped to broadcast over it."""
        shape = [1] * len(self.block_shape)
        shape[axis] = self.block_shape[axis]
        return (int(self.offsets[axis]) + np.arange(self.block_shape[axis])).reshape(shape)

    def addresses(self) -> Tile:
        lanes = np.zeros(self.block_shape, dtype=np.int64)
        for axis, stride in enumerate(self.strides):
            lanes = lanes + self.index(axis) * int(stride)
        return self.base + Tile(lanes, tile(0).dtype)

    def inside(self, axes: Any) -> Tile:
        mask = np.ones(self.block_shape, dtype=bool)
        for axis in axes:
            index = self.index(axis)
            mask = mask & (index >= 0) & (index < int(self.shape[axis]))
        return Tile(mask, int1)


class Descriptor:
    """A tensor descriptor: a box whose offsets are given at each load or store."""

    def __init__(
        self, base: Any, shape: Any, strides: Any, block_shape: Any, *_args: Any, **_kwargs: Any
    ) -> None:
        self.base, self.shape, self.strides = base, tuple(shape), tuple(strides)
        self.block_shape = shape_of(block_shape)
        self.dtype = base.dtype.element_ty
        self.type = base.dtype

    def _box(self, offsets: Any) -> Block:
        return Block(self.base, self.shape, self.strides, tuple(offsets), self.block_shape)

    def _access(self, op: str, address: Tile, mask: Tile) -> Tile:
        machine().record(op, address, mask)
        return machine().fetch(address, mask, 0)

    def load(self, offsets: Any, *_args: Any, **_kwargs: Any) -> Tile:
        box = self._box(offsets)
        return self._access("descriptor_load", box.addresses(), box.inside(range(len(box.shape))))

    def store(self, offsets: Any, _value: Any = None, *_args: Any, **_kwargs: Any) -> None:
        box = self._box(offsets)
        self._access("descriptor_store", box.addresses(), box.inside(range(len(box.shape))))

    def _rows(self, op: str, rows: Any, column: Any) -> Tile:
        lanes = tile(rows).data.reshape(-1, 1) * int(tile(self.strides[0]))
        last = (int(tile(column)) + np.arange(self.block_shape[-1])) * int(tile(self.strides[-1]))
        address = self.base + Tile(lanes + last, tile(0).dtype)
        return self._access(op, address, Tile(np.ones(address.shape, dtype=bool), int1))

    def gather(self, x_offsets: Any, y_offset: Any, *_args: Any, **_kwargs: Any) -> Tile:
        return self._rows("descriptor_gather", x_offsets, y_offset)

    def scatter(self, _value: Any, x_offsets: Any, y_offset: Any, *_args: Any, **_kwargs: Any) -> None:
        self._rows("descriptor_scatter", x_offsets, y_offset)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("atomic_"):
            return lambda offsets, _value=None: self._descriptor_atomic(name, offsets)
        raise AttributeError(name)

    def _descriptor_atomic(self, name: str, offsets: Any) -> None:
        box = self._box(offsets)
        self._access(f"descriptor_{name}", box.addresses(), box.inside(range(len(box.shape))))


# -- loads, stores, atomics ----------------------------------------------------------------------------------


def load(
    pointer: Any, mask: Any = None, other: Any = None, boundary_check: Any = (), *_args: Any, **_kw: Any
) -> Tile:
    if isinstance(pointer, Block):
        mask = pointer.inside(as_int(a) for a in boundary_check)
        pointer = pointer.addresses()
    machine().record("load", pointer, mask)
    return machine().fetch(pointer, mask, other)


def store(
    pointer: Any, _value: Any, mask: Any = None, boundary_check: Any = (), *_args: Any, **_kw: Any
) -> None:
    if isinstance(pointer, Block):
        mask = pointer.inside(as_int(a) for a in boundary_check)
        pointer = pointer.addresses()
    machine().record("store", pointer, mask)


def atomic(op: str):
    """The function ``tl.<op>``: like a load and a store of the same address."""

    def apply(pointer: Any, _value: Any = None, mask: Any = None, *_args: Any, **_kwargs: Any) -> Tile:
        machine().record(op, pointer, mask)
        return machine().fetch(pointer, mask, 0)

    return apply


def atomic_cas(pointer: Any, _compare: Any, _value: Any, *_args: Any, **_kwargs: Any) -> Tile:
    machine().record("atomic_cas", pointer, None)
    return machine().fetch(pointer, None, None)


def make_block_ptr(
    base: Any, shape: Any, strides: Any, offsets: Any, block_shape: Any, order: Any = None
) -> Block:
    return Block(base, shape, strides, offsets, block_shape)


def advance(pointer: Block, offsets: Any) -> Block:
    if not isinstance(pointer, Block):
        raise OracleUnsupported("advance of something that is no block pointer")
    return pointer.moved(offsets)


MEMORY = {
    "load": load,
    "store": store,
    "atomic_cas": atomic_cas,
    "make_block_ptr": make_block_ptr,
    "advance": advance,
    "make_tensor_descriptor": Descriptor,
    "_experimental_make_tensor_descriptor": Descriptor,
    "load_tensor_descriptor": lambda desc, offsets: desc.load(offsets),
    "store_tensor_descriptor": lambda desc, offsets, value: desc.store(offsets, value),
    "_experimental_descriptor_load": lambda desc, offsets, *a, **k: desc.load(offsets),
    "_experimental_descriptor_store": lambda desc, value, offsets: desc.store(offsets, value),
    **{f"atomic_{n}": atomic(f"atomic_{n}") for n in ("add", "max", "min", "and", "or", "xor", "xchg")},
}
