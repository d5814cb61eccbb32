"""What limits an access, in one word: the ``limited_by`` of a cost."""

from __future__ import annotations

from coalesce_lint.access import Cost
from coalesce_lint.hardware.launch import VECTOR_BYTES, WARP_LANES
from coalesce_lint.hardware.layout import MemoryOp, alignment_elements, register_axis

#: Below this efficiency sectors are wasted (a misaligned run wastes a little and is not meant).
_WASTE = 0.9


def limited_by(op: MemoryOp, cost: Cost, vector: int, gathers: bool, unit_axes: set[int]) -> str | None:
    """ "gather", "stride", "contiguity", "alignment", "mask", or None where nothing is lost.

    "stride": lanes are apart in memory. "contiguity": some axis is contiguous in truth, but the compiler
    could not prove it and laid the lanes elsewhere, or gave no vectors. "alignment" and "mask": lanes are
    side by side, but the base, the pitch or the mask's bound keeps the vectors short.
    """
    if gathers:
        return "gather"
    if op.layout is None or cost.efficiency is None:
        return None
    if cost.efficiency < _WASTE:
        unseen = bool(unit_axes) and cost.lane_axis not in unit_axes and _unproved(op, unit_axes)
        return "contiguity" if unseen else "stride"
    axis = register_axis(op.layout)
    share = max(op.elements // (WARP_LANES * len(op.layout.warp_numbers)), 1)
    best = min(max(VECTOR_BYTES // op.element_bytes, 1), share)
    if axis is None or vector >= best:
        return None
    held = op.layout.contiguous_registers(axis)
    if op.mask is not None and op.mask.constancy[axis] <= vector < min(held, best):
        return "mask"
    if axis in unit_axes and op.pointer.contiguity[axis] >= best:
        aligned = alignment_elements(op.pointer, axis, op.element_bytes)
        return "alignment" if aligned < best else None
    return "contiguity" if unit_axes and op.pointer.contiguity[axis] < best else None


def _unproved(op: MemoryOp, unit_axes: set[int]) -> bool:
    """True where the compiler sees no contiguity along an axis that has it."""
    return all(op.pointer.contiguity[axis] <= 1 for axis in unit_axes)
