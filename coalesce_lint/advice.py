"""What the rules on strided accesses share: which accesses are worth a finding, and how to say it.

Sizes are estimates made from the source alone: each name in an extent counts as ``USUAL_EXTENT``
lanes, and each loop around an access multiplies it by ``USUAL_TURNS``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator

from coalesce_lint.access import Access, Kernel, Part
from coalesce_lint.findings import Finding, Rule
from coalesce_lint.lanes import WARP, estimate, positions
from coalesce_lint.siblings import interleaved, parts_of
from coalesce_lint.waste import waste_of

USUAL_EXTENT = 64
USUAL_TURNS = 64
LONGEST_OWNER = 40

#: Elements of four bytes in a 32-byte sector: a contiguous access touches this many fewer sectors than lanes.
SECTOR_ELEMENTS = 8


def strided_accesses(kernel: Kernel, wanted: Callable[[Access], bool]) -> Iterator[Access]:
    """The ``wanted`` strided accesses of ``kernel`` whose repair can matter to it.

    Not loads that fill each other's gaps (CL105) and steps that are loaded values;
    not where fewer than a warp of lanes have addresses of their own, not where the lanes of a warp lie in no
    more sectors than neighbouring elements would (shuffled within the warp, or sharing elements), and not
    where the access touches at most an eighth of the sectors of the kernel's heaviest access: a strided row
    of scales beside a tile, or a small table read once before the loop that does the work.
    """
    grouped = interleaved(kernel)
    strided = [
        a
        for a in kernel.accesses
        if a.pattern == "strided" and wanted(a) and id(a) not in grouped and not _stride_loaded(a)
    ]
    if not strided:
        return
    heaviest = max(_sectors(a) for a in kernel.accesses)
    for access in strided:
        if _lanes(access, unknown=WARP) >= WARP and _sectors(access) * 8 > heaviest and not dense(access):
            yield access


def worth_telling(kernel: Kernel) -> Iterator[Access]:
    """The accesses with a unit stride, or a stride argument that may be 1, that carry weight in ``kernel``:
    by the same measure as strided ones, as if every lane cost a sector."""
    candidates = [
        a
        for a in kernel.accesses
        if a.pattern in ("contiguous", "parametric") and _lanes(a, unknown=WARP) >= WARP
    ]
    if not candidates or kernel.model is None:
        return
    heaviest = max(_sectors(a) for a in kernel.accesses)
    for access in candidates:
        if _sectors(access) * SECTOR_ELEMENTS * 8 > heaviest:
            yield access


def _stride_loaded(access: Access) -> bool:
    """Whether the step is read from memory: it may well be 1, so there is nothing to act on."""
    return "loaded" in (access.lane_stride or "")


def dense(access: Access) -> bool:
    """Whether the lanes along the lane axis touch no more sectors than as many neighbouring elements do."""
    elements = positions(access)
    if elements is None:
        # a number of lanes that is not known is a block or a size: a group that fills sectors
        return any(n.startswith("repeat=") and not n[7:].isdecimal() for n in access.notes)
    return len({e // SECTOR_ELEMENTS for e in elements}) <= -(-len(elements) // SECTOR_ELEMENTS)


def _lanes(access: Access, unknown: int) -> int:
    """Lanes with an address of their own, taking ``unknown`` for an extent that is not a number."""
    extents = [axis.extent for axis in access.axes if axis.stride != "0"]
    return math.prod(int(e) if e.isdecimal() else unknown for e in extents)


def _usual_lanes(access: Access) -> int:
    """The same with ``USUAL_EXTENT`` for each name in an extent: a quotient of blocks is a small number."""
    extents = [axis.extent for axis in access.axes if axis.stride != "0"]
    return math.prod(max(estimate(e, USUAL_EXTENT), 1) for e in extents)


def _sectors(access: Access) -> float:
    """An estimate of the sectors that one program touches in all executions of ``access``."""
    if access.pattern == "uniform":
        lanes = 1.0
    elif access.pattern in ("contiguous", "parametric"):
        lanes = _usual_lanes(access) / SECTOR_ELEMENTS
    else:
        lanes = float(_usual_lanes(access))
    # an address of which not everything is known cannot be said to stay the same
    stays = access.reused and access.pattern not in ("gather", "unknown")
    return float(lanes * USUAL_TURNS ** max(access.loop_depth - stays, 0))


def strided_finding(rule: Rule, access: Access, kernel: Kernel) -> Iterator[Finding]:
    """The finding on a strided access: its axis, its multiplier, what it costs and the way out.

    Its severity follows the bytes beyond L1; none where they are below the ``min-waste`` of the settings.
    """
    found = waste_of(access, kernel)
    if found is not None and (found.traffic < kernel.model.min_waste or not found.matters):
        return
    owner = f" and {_owner(access)} walks the unit stride" if access.scalar_owner else ""
    costs = f" ({found.words})" if found is not None else ""
    message = (
        f"{operation(access)} of {access.pointer} is strided: lanes along axis {access.lane_axis} "
        f"step by {access.lane_stride} elements{owner}{costs}; {way_out(access)}"
    )
    yield rule.finding(access, message, severity=found.severity if found is not None else rule.severity)


def operation(access: Access) -> str:
    """The operation in words: "load", "atomic_add", "descriptor load"."""
    return access.op if access.is_atomic else access.op.replace("_", " ")


def way_out(access: Access) -> str:
    """The one repair that fits the access best."""
    loads = not access.is_write and not access.is_atomic
    owner = _owner(access)
    if loads and access.reused and access.loop_depth:
        return "the address does not change in the loop: load it once before the loop"
    if owner and access.loop_depth and "pid" not in (access.scalar_owner or ""):
        verb = "load" if loads else "write"
        return (
            f"{verb} a 2-D tile whose second axis is a tl.arange along {owner}, "
            f"and step that loop by the extent of the axis"
        )
    if owner:
        return f"put the lanes along {owner}, or give it a tile axis of its own (a tl.arange along it)"
    run = _interleaved(access)
    if run and loads:
        whole = _product(run.step, _extent(access))
        which, where = _contiguous(run)
        return f"load the {which}run of {whole} elements as one tile{where} and take it apart with tl.split"
    if run and access.is_write:
        which, where = _contiguous(run)
        return f"put the {run.step} parts together with tl.join and store one {which}tile{where}"
    return _upstream(access)


def _owner(access: Access) -> str | None:
    """The scalar that owns the unit stride, as a short name; a long expression is for ``explain``."""
    owner = (access.scalar_owner or "").removeprefix("-")
    if len(owner) > LONGEST_OWNER:
        return "an expression of program_id" if "pid" in owner else "a scalar expression"
    return owner or None


def _product(factor: int, extent: str) -> str:
    if extent.isdecimal():
        return str(factor * int(extent))
    return f"{factor}*{extent}" if extent.isidentifier() else f"{factor}*({extent})"


def _interleaved(access: Access) -> Part | None:
    """The step of lanes that pick every second or fourth element; tl.split needs a power of two."""
    part = parts_of(access)
    return part if part is not None and part.step in (2, 4) else None


def _contiguous(part: Part) -> tuple[str, str]:
    """That the parts together are contiguous, said in front of the tile or behind it."""
    return ("", f" (contiguous where {part.unit} is 1)") if part.unit else ("contiguous ", "")


def _extent(access: Access) -> str:
    for axis in access.axes:
        if axis.axis == access.lane_axis:
            return axis.extent
    return "BLOCK"


def _upstream(access: Access) -> str:
    if re.fullmatch(r"-?3", access.lane_stride or ""):
        return "no tile axis has stride 1: keep the 3 parts in arrays of their own where the tensor is made"
    if access.is_write or access.is_atomic:
        return f"no tile axis has stride 1: make axis {access.lane_axis} the last dimension of the output"
    return (
        f"no tile axis has stride 1: make axis {access.lane_axis} the last dimension of the tensor "
        f"(transpose it once where it is made)"
    )
