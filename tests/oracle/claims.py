"""One claimed verdict against one recorded execution of its access."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .formula import CannotTell, evaluate, lanes
from .memory import Record, Taken
from .steps import (
    Notes,
    clamped,
    constant,
    few_moves,
    jumps_once,
    lines_along,
    mostly,
    read_notes,
    steps_along,
    tile_holds,
)

Claim = dict[str, Any]
OTHER_WAY, SOME_LANES = "another way", "some lanes"  #: of a choice, where a finding cannot be told


@dataclass
class Run:
    """One binding of the parameters: what was recorded under it, for each of two contents of memory."""

    values: dict[str, Any]
    records: list[Record]
    other_data: list[Record] = field(default_factory=list)
    taken: set[Taken] = field(default_factory=set)


@dataclass
class Finding:
    """One record against one claim. ``fits``: True, False, or None where it cannot be told."""

    fits: bool | None
    kind: str = ""
    detail: str = ""


def names_of(record: Record, run: Run) -> dict[str, Any]:
    """Everything whose number is known at a record: parameters and program ids."""
    numbers = {k: int(v) for k, v in run.values.items() if isinstance(v, (bool, int))}
    pids = {f"pid{k}": v for k, v in enumerate(record.program)}
    return {**numbers, **pids}


def chain_of(claim: Claim) -> list[tuple[int, int]]:
    return sorted((s["line"], s["column"]) for s in claim.get("call_chain", []))


def chain_at(record: Record) -> list[tuple[int, int]]:
    return sorted((line, column) for _path, line, column in record.chain)


def check(claim: Claim, record: Record, run: Run) -> Finding:
    """One record against one claim."""
    names = names_of(record, run)
    notes = read_notes(claim.get("notes", []), names)
    place = f"{_shown(run)} program {record.program}: {_sample(record.offset)}"
    exact = chain_of(claim) == chain_at(record)
    # Branches may even differ in rank.
    shape = _check_shape(claim, record, names) if exact and not notes.branch else None
    if shape is not None:
        return Finding(False, "wrong shape", f"{shape}; {place}")
    pattern = claim["pattern"]
    if record.offset.ndim != len(claim.get("axes") or []):
        return Finding(None)
    finding = CHECKS[pattern](claim, record.offset, names, notes)
    if finding.fits is False and (notes.branch or notes.clamp) and pattern in ("strided", "parametric"):
        # The verdict is on the worst of several ways, and these lanes may have taken another one. That lanes
        # take the worst one somewhere is asked of all records together (``compare._never_seen``).
        kind = SOME_LANES if _some_step_is(claim, record.offset, names, notes) else OTHER_WAY
        return Finding(None, kind, f"{finding.detail}; {place}")
    if finding.fits is False:
        return Finding(False, finding.kind, f"{finding.detail}; {place}")
    if not exact:
        return (
            finding  # one claim stands for several ways to the same place; its texts are those of one of them
        )
    worst_of_lanes = notes.clamp and pattern in ("strided", "parametric")  # others may have taken another way
    if not (notes.branch or worst_of_lanes) and _lane_axis_differs(claim, record.offset, names, notes):
        return Finding(False, "wrong axis", f"axes {claim['axes']}; {place}")
    return finding


def offset_differs(claim: Claim, record: Record, run: Run) -> bool | None:
    """Whether the offset as printed gives other numbers than were recorded; None where it has no number.

    Where control flow gives several offsets, the text is that of one of them.
    """
    names, offset = names_of(record, run), record.offset
    if record.root == "|":
        return None  # the text is the offset from each lane's own root
    places = np.indices(offset.shape, sparse=True)
    try:
        told = lanes(claim.get("offset") or "?", {**names, **{f"i{k}": p for k, p in enumerate(places)}})
        differs = np.broadcast_to(told, offset.shape) - offset
    except (CannotTell, ValueError, TypeError):
        return None
    if record.root == "?" and differs.size:
        differs = differs - differs.flat[0]  # the text is the offset from a loaded pointer
    return bool(differs.any())


def _check_shape(claim: Claim, record: Record, names: dict[str, Any]) -> str | None:
    axes = claim.get("axes") or []
    if len(axes) != record.offset.ndim:
        return f"{len(axes)} axes claimed, {record.offset.ndim} found"
    for axis in axes:
        extent = evaluate(axis["extent"], names)
        if extent is not None and extent != record.offset.shape[axis["axis"]]:
            found = record.offset.shape[axis["axis"]]
            return f"axis {axis['axis']}: extent {axis['extent']} claimed, {found} found"
    return None


def _lane_axis_differs(claim: Claim, offset: np.ndarray, names: dict[str, Any], notes: Notes) -> bool:
    """Whether the lane axis walks by another stride than its entry among the axes says."""
    for axis in claim.get("axes") or []:
        stride, number = evaluate(axis["stride"], names), axis["axis"]
        if number == claim["lane_axis"] and stride and offset.shape[number] > 1:
            return tile_holds(offset, number, stride, notes, either_sign=notes.clamp) is False
    return False


def other_axis_differs(claim: Claim, record: Record, run: Run) -> list[tuple[int, bool, str]]:
    """For each axis but the lane axis whose stride is a number here: (axis, whether its steps differ, text).

    The notes speak of the lane axis only, so another axis may jump; but half of the steps by which it moves
    must fit, where there are at least four: fewer may all be jumps (four lanes of ``i % 3 * 8``, say).
    """
    names, offset = names_of(record, run), record.offset
    found = []
    for axis in claim.get("axes") or []:
        stride, number = evaluate(axis["stride"], names), axis["axis"]
        if stride is None or number == claim["lane_axis"] or offset.shape[number] < 2:
            continue
        fits = mostly(offset, number, stride, share=0.5, least=4) if stride else constant(offset, number)
        steps = f"steps {_steps(offset, number)}; {_shown(run)}"
        text = f"axis {number}: stride {axis['stride']} = {stride}, {steps}"
        found.append((number, not fits, text))
    return found


def _some_step_is(claim: Claim, offset: np.ndarray, names: dict[str, Any], notes: Notes) -> bool:
    """Whether some lanes are as far apart as the lane stride says.

    Neighbours, or lanes a period apart where they choose with one: one of eight may take the worst way.
    """
    stride = evaluate(claim["lane_stride"], names)
    lines = lines_along(offset, claim["lane_axis"])
    apart = [d for d in {1, *notes.runs} if d and 0 < d < lines.shape[1]]
    return stride is not None and any(
        (np.abs(lines[:, d:] - lines[:, :-d]) == d * abs(stride)).any() for d in apart
    )


def _lesser(offset: np.ndarray, axis: int, stride: int, notes: Notes) -> str | None:
    """The name of a mistake of qualification: the stride is right, but not all the jumps are said."""
    if notes.plain and clamped(offset, axis, stride):
        return "unsaid clamp"
    if notes.plain and jumps_once(offset, axis, stride):
        return "unsaid jump"
    return "wrong notes" if not notes.plain and mostly(offset, axis, stride) else None


def _check_uniform(_claim: Claim, offset: np.ndarray, _names: dict[str, Any], _notes: Notes) -> Finding:
    same = offset.size == 0 or bool((offset == offset.flat[0]).all())
    return Finding(same, "wrong uniform", "lanes differ")


def _check_contiguous(claim: Claim, offset: np.ndarray, _names: dict[str, Any], notes: Notes) -> Finding:
    axis = claim["lane_axis"]
    if axis is None or offset.shape[axis] < 2:
        return Finding(None)
    fits = tile_holds(offset, axis, 1, notes, either_sign=True)
    if fits is False and notes.branch:
        fits = _other_branch_is_contiguous(offset)
    if fits is not False:
        return Finding(fits)
    text = f"axis {axis}, notes {claim['notes']}, steps {_steps(offset, axis)}"
    return Finding(False, _lesser(offset, axis, 1, notes) or "wrong contiguous", text)


def _other_branch_is_contiguous(offset: np.ndarray) -> bool | None:
    """Whether lanes walk by 1, or all share one address, in a branch whose notes are not told.

    The notes are those of the worst branch; this one may jump, in runs of two or three, in its own way and
    along another axis. None where no line moves often enough to say.
    """
    moving = [k for k in range(offset.ndim) if not constant(offset, k)]
    if not moving or any(mostly(offset, k, 1, share=0.3) for k in moving):
        return True
    return None if all(few_moves(offset, k, 4) for k in moving) else False


def _check_strided(claim: Claim, offset: np.ndarray, names: dict[str, Any], notes: Notes) -> Finding:
    axis, stride = claim["lane_axis"], evaluate(claim["lane_stride"], names)
    if axis is None or offset.shape[axis] < 2 or stride is None or abs(stride) < 2:
        return Finding(None)
    fits = tile_holds(offset, axis, stride, notes)
    if fits is not False:
        return Finding(fits)
    text = f"axis {axis}: stride {claim['lane_stride']} = {stride}, steps {_steps(offset, axis)}"
    return Finding(fits, _lesser(offset, axis, stride, notes) or "wrong stride", text)


def _check_parametric(claim: Claim, offset: np.ndarray, names: dict[str, Any], notes: Notes) -> Finding:
    axis, stride = claim["lane_axis"], evaluate(claim["lane_stride"], names)
    met = evaluate(claim["condition"], names)
    if axis is None or offset.shape[axis] < 2 or met is None:
        return Finding(None)
    if met:
        wide = [k for k in range(offset.ndim) if offset.shape[k] > 1]
        units = [tile_holds(offset, k, 1, notes, either_sign=True) for k in wide]
        if True in units or None in units:
            return Finding(True if True in units else None)
        text = f"{claim['condition']} holds, steps {_steps(offset, axis)}"
        return Finding(False, _lesser(offset, axis, 1, notes) or "wrong parametric", text)
    if stride is None:
        return Finding(None)
    fits = tile_holds(offset, axis, stride, notes)
    if fits is not False:
        return Finding(fits)
    text = f"axis {axis}: stride {claim['lane_stride']} = {stride}, steps {_steps(offset, axis)}"
    return Finding(fits, _lesser(offset, axis, stride, notes) or "wrong parametric", text)


def _check_gather(_claim: Claim, _offset: np.ndarray, _names: dict[str, Any], _notes: Notes) -> Finding:
    return Finding(None)


CHECKS = {
    "uniform": _check_uniform,
    "contiguous": _check_contiguous,
    "strided": _check_strided,
    "parametric": _check_parametric,
    "gather": _check_gather,
    "unknown": _check_gather,
}


def _steps(offset: np.ndarray, axis: int) -> str:
    steps = steps_along(offset, axis)
    return str(steps[0][:12].tolist()) if steps.size else "[]"


def _sample(offset: np.ndarray) -> str:
    return str(offset.reshape(-1)[:16].tolist())


def _shown(run: Run) -> str:
    return ", ".join(f"{k}={v}" for k, v in run.values.items() if isinstance(v, (bool, int)))
