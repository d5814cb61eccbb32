"""Which lane, warp and register of a program holds which element of a memory operation's tile.

Models Triton's Coalesce pass (``CoalesceUtils.cpp``: order by contiguity, elements a thread by alignment),
the builder of ``BlockedEncodingAttr`` and the vector width of ``LoadStoreOpToLLVM.cpp``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any

from coalesce_lint.hardware.axis_info import Info
from coalesce_lint.hardware.launch import VECTOR_BYTES, WARP_LANES
from coalesce_lint.hardware.linear_layout import LinearLayout, blocked
from coalesce_lint.hardware.profiles import Profile


@dataclass(eq=False)
class MemoryOp:
    """One memory operation as the compiler sees it. ``shape`` is () for a scalar; ``mask`` None where there
    is none."""

    kind: str  #: "load", "store" or "atomic"
    shape: tuple[int, ...]
    element_bytes: int
    pointer: Info
    mask: Info | None = None
    group: int = 0  #: operations of one def-use slice have the same number
    origin: Any = None
    order: tuple[int, ...] = ()
    per_thread: int = 1
    layout: LinearLayout | None = None
    copies: list[LinearLayout] = field(default_factory=list)  #: further layouts in which it is repeated
    element_type: str = ""  #: Triton's name of it, where it is known
    atomic_limit: int = 1  #: elements that one atomic instruction can take

    @property
    def elements(self) -> int:
        return prod(self.shape)


def contiguity_order(profile: Profile, contiguity: tuple[int, ...]) -> tuple[int, ...]:
    """Axes from the fastest to the slowest: by contiguity; strides are not looked at
    (``getOrderFromContiguity``)."""
    axes = range(len(contiguity))
    return tuple(sorted(reversed(axes) if profile.ties_last else axes, key=lambda a: -contiguity[a]))


def alignment_elements(pointer: Info, axis: int, element_bytes: int) -> int:
    """Elements along ``axis`` that provably lie in one aligned run (``getAlignment``)."""
    return min(max(pointer.divisibility[axis] // element_bytes, 1), pointer.contiguity[axis])


def wanted_per_thread(profile: Profile, op: MemoryOp, axis: int) -> int:
    """Elements a thread that the operation alone would like (``getNumElementsPerThread``)."""
    aligned = alignment_elements(op.pointer, axis, op.element_bytes)
    wanted = min(aligned, op.shape[axis], max(VECTOR_BYTES // op.element_bytes, 1))
    return min(wanted, op.atomic_limit) if op.kind == "atomic" and profile.atomics_limit else wanted


def distribute(
    shape: tuple[int, ...], size_per_thread: tuple[int, ...], order: tuple[int, ...], num_warps: int
) -> LinearLayout:
    """The blocked layout for a size per thread (the builder of ``BlockedEncodingAttr``).

    Lanes fill the fastest axis first, then the next; what is left of lanes and warps goes to the slowest
    axis.
    """
    lanes, warps, threads = WARP_LANES, num_warps, WARP_LANES * num_warps
    threads_per_warp, warps_per_cta = [1] * len(shape), [1] * len(shape)
    for axis in order[:-1]:
        here = min(threads, max(1, shape[axis] // size_per_thread[axis]))
        threads_per_warp[axis] = max(1, min(here, lanes))
        warps_per_cta[axis] = max(1, min(here // threads_per_warp[axis], warps))
        lanes //= threads_per_warp[axis]
        warps //= warps_per_cta[axis]
        threads //= here
    threads_per_warp[order[-1]] = WARP_LANES // prod(threads_per_warp)
    warps_per_cta[order[-1]] = num_warps // prod(warps_per_cta)
    return blocked(shape, size_per_thread, tuple(threads_per_warp), tuple(warps_per_cta), order)


def default_layout(shape: tuple[int, ...], num_warps: int) -> LinearLayout:
    """The layout of everything that is no memory operation at first (``ConvertTritonToTritonGPU``): last
    axis fastest."""
    return distribute(shape, (1,) * len(shape), tuple(reversed(range(len(shape)))), num_warps)


def coalesce(profile: Profile, ops: list[MemoryOp], num_warps: int) -> None:
    """Sets ``order``, ``per_thread`` and ``layout`` of each tile operation (``buildCoalescedEncoding``).

    Operations of the same shape and order in one def-use slice take the largest wish among them; stores and
    atomics at most their own, for a gap between their threads' pieces would cost; all at most their share
    of the tile.
    """
    for op in ops:
        if op.shape:
            op.order = contiguity_order(profile, op.pointer.contiguity)
    for op in ops:
        if not op.shape:
            continue
        axis = op.order[0]
        own = wanted_per_thread(profile, op, axis)
        peers = [
            wanted_per_thread(profile, other, axis)
            for other in ops
            if other.group == op.group and other.shape == op.shape and other.order == op.order
        ]
        wish = min(max([own, *peers]), max(op.elements // (num_warps * WARP_LANES), 1))
        op.per_thread = wish if op.kind == "load" else min(wish, own)
        sizes = tuple(op.per_thread if k == axis else 1 for k in range(len(op.shape)))
        op.layout = distribute(op.shape, sizes, op.order, num_warps)


def atomic_limit(operation: str, element_type: str, arch: int) -> int:
    """Elements of one atomic instruction (``supportsVectorized`` in ``AtomicRMWOpConversion``).

    From sm_90 on, additions of fp16, bf16 and fp32 come in vectors; before, fp16 in pairs.
    """
    floats = ("fp16", "bf16", "fp32")
    if arch >= 90 and operation == "atomic_add" and element_type in floats:
        return VECTOR_BYTES
    return 2 if element_type == "fp16" else 1


def vector_elements(op: MemoryOp, layout: LinearLayout | None = None) -> int:
    """Elements that one instruction of a thread moves (``getVectorSize`` and ``getMaskAlignment``).

    At most 128 bits, what consecutive registers hold of one run, what is aligned, and what the mask treats
    alike. ``layout`` is that of the operation where it is not given.
    """
    layout = layout or op.layout
    axis = register_axis(layout) if layout is not None else None
    if layout is None or axis is None:
        return 1
    vector = min(
        max(VECTOR_BYTES // op.element_bytes, 1),
        layout.contiguous_registers(axis),
        alignment_elements(op.pointer, axis, op.element_bytes),
    )
    if op.mask is not None:
        vector = min(vector, max(op.mask.constancy[axis], 1))
    vector = 1 << (vector.bit_length() - 1)
    return vector if op.kind != "atomic" else min(vector, op.atomic_limit)


def register_axis(layout: LinearLayout) -> int | None:
    """The axis along which the first registers of a thread run, None where it holds one element."""
    for basis in layout.register:
        for axis, c in enumerate(basis):
            if c:
                return axis
    return None
