"""What limits an access, in one word: the ``limited_by`` of a cost."""

from __future__ import annotations

from coalesce_lint.access import Cost
from coalesce_lint.hardware.launch import VECTOR_BYTES, WARP_LANES
from coalesce_lint.hardware.layout import MemoryOp

#: More sectors than this times the ideal are a waste; a run that merely starts within a sector is not meant.
_WASTE = 1.3


def limited_by(op: MemoryOp, cost: Cost, vector: int, gathers: bool, unit_axes: set[int]) -> str | None:
    """ "gather", "stride", "contiguity", "alignment", "mask", or None where nothing is lost.

    "gather": the lanes' addresses come from data. "stride": lanes are apart in memory, or runs are shorter
    than a sector. "contiguity": an axis is contiguous in truth, but the compiler cannot prove it, so that
    it laid the lanes elsewhere or gave no vectors. "alignment" and "mask": lanes are side by side, but the
    base, the pitch or the bound of the mask keeps vectors short. ``unit_axes`` are the axes along which
    neighbours in the tile are neighbours in memory, ``vector`` the elements of one instruction.
    """
    if gathers:
        return "gather"
    if op.layout is None or cost.sectors_per_request is None:
        return None
    wastes = cost.sectors_per_request > _WASTE * cost.ideal_sectors_per_request
    axis = cost.lane_axis
    if axis is None or axis not in unit_axes:
        if not wastes:
            return None
        return (
            "contiguity" if unit_axes and all(op.pointer.contiguity[k] <= 1 for k in unit_axes) else "stride"
        )
    share = max(op.elements // (WARP_LANES * len(op.layout.warp_numbers)), 1)
    best = min(max(VECTOR_BYTES // op.element_bytes, 1), share, op.shape[axis])
    if vector < best:
        if op.pointer.contiguity[axis] < best:
            return "contiguity"
        if op.pointer.divisibility[axis] // op.element_bytes < best:
            return "alignment"
        if op.mask is not None and op.mask.constancy[axis] < best:
            return "mask"
    return "stride" if wastes else None
