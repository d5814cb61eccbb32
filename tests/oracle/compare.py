"""Holds the verdicts of an analyzer (as in its JSON contract) against recorded addresses.

A *site* is a place of the source with an access. Each claim at a site gets one outcome: agree, disagree (with
the kind of mistake), undecided, or not executed. The worst kinds are "wrong contiguous" and "wrong uniform":
silence about lanes that are apart.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

import numpy as np

from .formula import CannotTell, evaluate, lanes
from .memory import Record
from .steps import Notes, always_unit, constant, mostly, read_notes, steps_along, tile_holds

Claim = dict[str, Any]
Site = tuple[str, int, int]  #: file name, line, column
WORST = ("wrong contiguous", "wrong uniform")


@dataclass
class Run:
    """One binding of the parameters: what was recorded under it, for each of two contents of memory."""

    values: dict[str, Any]
    records: list[Record]
    other_data: list[Record] = field(default_factory=list)


@dataclass
class Outcome:
    """What became of one claim. ``status``: agree, disagree, undecided, not executed."""

    claim: Claim
    status: str
    kind: str = ""
    detail: str = ""

    @property
    def is_worst(self) -> bool:
        return self.status == "disagree" and self.kind in WORST


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


def _site(claim: Claim) -> Site:
    return PurePath(claim.get("path") or "kernel.py").name, claim["line"], claim["column"]


def _place(record: Record) -> Site:
    return PurePath(record.path).name, record.line, record.column


def compare(claims: list[Claim], runs: list[Run]) -> list[Outcome]:
    """An outcome for each claim, and one "missing access" for each executed site without a claim."""
    sites: dict[Site, list[Claim]] = defaultdict(list)
    for claim in claims:
        sites[_site(claim)].append(claim)
    outcomes = []
    seen: dict[int, list[tuple[Record, Run]]] = defaultdict(list)
    for run in runs:
        for record in run.records:
            candidates = _candidates(sites.get(_place(record), []), record)
            for claim in candidates:
                seen[id(claim)].append((record, run))
    for claim in claims:
        rivals = sites[_site(claim)]
        outcomes.append(_judge(claim, seen[id(claim)], runs, rivals))
    for file, line, column in sorted({_place(r) for run in runs for r in run.records} - set(sites)):
        missing = {"path": file, "line": line, "column": column, "pattern": "none"}
        outcomes.append(Outcome(missing, "disagree", "missing access", "no verdict for an access that ran"))
    return outcomes


def _candidates(claims: list[Claim], record: Record) -> list[Claim]:
    """The claims that may speak of a record: those of its call chain, else every claim of the site."""
    return [c for c in claims if _chain_of(c) == _chain(record)] or claims


def _chain_of(claim: Claim) -> list[tuple[int, int]]:
    return sorted((s["line"], s["column"]) for s in claim.get("call_chain", []))


def _chain(record: Record) -> list[tuple[int, int]]:
    return sorted((line, column) for _path, line, column in record.chain)


def _judge(claim: Claim, seen: list[tuple[Record, Run]], runs: list[Run], rivals: list[Claim]) -> Outcome:
    if not seen:
        return Outcome(claim, "not executed")
    if claim["pattern"] == "unknown":
        return Outcome(claim, "undecided", "unknown", claim.get("reason") or "")
    findings = []
    for record, run in seen:
        finding = check(claim, record, run)
        if finding.fits is False and len(rivals) > 1:
            others = [check(c, record, run) for c in _candidates(rivals, record) if c is not claim]
            if any(o.fits is not False for o in others):
                continue  # one verdict for several ways to the same place: another claim speaks of this one
        findings.append(finding)
    if claim["pattern"] == "gather":
        findings.append(_depends_on_data(claim, runs))
    wrong = next((f for f in findings if f.fits is False), None)
    if wrong is None and claim["pattern"] in ("strided", "parametric") and "branch" not in claim["notes"]:
        wrong = _missed_contiguous(claim, seen)
    if wrong is not None:
        return Outcome(claim, "disagree", wrong.kind, wrong.detail)
    if any(f.fits for f in findings):
        return Outcome(claim, "agree")
    return Outcome(claim, "undecided", "degenerate")


def check(claim: Claim, record: Record, run: Run) -> Finding:
    """One record against one claim."""
    names = names_of(record, run)
    notes = read_notes(claim.get("notes", []), names)
    place = f"{_shown(run)} program {record.program}: {_sample(record.offset)}"
    exact = _chain_of(claim) == _chain(record)
    shape = _check_shape(claim, record, names) if exact else None
    if shape is not None:
        return Finding(False, "wrong shape", f"{shape}; {place}")
    pattern = claim["pattern"]
    if not exact and record.offset.ndim != len(claim.get("axes") or []):
        return Finding(None)
    if notes.branch and pattern in ("strided", "gather", "parametric"):
        return Finding(
            None if not record.offset.size else True
        )  # the worst of branches: this one may be better
    finding = CHECKS[pattern](claim, record.offset, names, notes)
    if finding.fits is False:
        return Finding(False, finding.kind, f"{finding.detail}; {place}")
    if not exact:
        return (
            finding  # one claim stands for several ways to the same place; its texts are those of one of them
        )
    axes = _check_axes(claim, record.offset, names, notes)
    if axes is not None:
        return Finding(False, "wrong axis", f"{axes}; {place}")
    if not (notes.branch or notes.loose) and _offset_differs(claim, record.offset, names):
        return Finding(False, "wrong offset", f"{claim['offset']}; {place}")
    return finding


def _offset_differs(claim: Claim, offset: np.ndarray, names: dict[str, Any]) -> bool:
    """The whole offset as printed, lane by lane: does it give other numbers than were recorded?"""
    places = np.indices(offset.shape, sparse=True)
    try:
        told = lanes(claim.get("offset") or "?", {**names, **{f"i{k}": p for k, p in enumerate(places)}})
        return bool((np.broadcast_to(told, offset.shape) != offset).any())
    except (CannotTell, ValueError, TypeError):
        return False


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


def _check_axes(claim: Claim, offset: np.ndarray, names: dict[str, Any], notes: Notes) -> str | None:
    """The stride of each axis where it is one expression."""
    for axis in claim.get("axes") or []:
        stride = evaluate(axis["stride"], names)
        number = axis["axis"]
        if stride is None or offset.shape[number] < 2 or notes.branch:
            continue
        if stride == 0:
            fits = constant(offset, number)
        elif number == claim["lane_axis"]:
            fits = tile_holds(offset, number, stride, notes) is not False
        else:
            fits = mostly(offset, number, stride)  # the notes speak of the lane axis only
        if not fits:
            return f"axis {number}: stride {axis['stride']} = {stride}, steps {_steps(offset, number)}"
    return None


def _check_uniform(_claim: Claim, offset: np.ndarray, _names: dict[str, Any], _notes: Notes) -> Finding:
    same = offset.size == 0 or bool((offset == offset.flat[0]).all())
    return Finding(same, "wrong uniform", "lanes differ")


def _check_contiguous(claim: Claim, offset: np.ndarray, _names: dict[str, Any], notes: Notes) -> Finding:
    axis = claim["lane_axis"]
    if axis is None or offset.shape[axis] < 2:
        return Finding(None)
    if notes.branch and constant(offset, axis):
        return Finding(True)
    fits = tile_holds(offset, axis, 1, notes, either_sign=True)
    # A qualified verdict whose qualification is not quite right is a lesser mistake than lanes far apart.
    kind = "wrong contiguous" if notes.plain or not mostly(offset, axis, 1) else "wrong notes"
    return Finding(fits, kind, f"axis {axis}, notes {claim['notes']}, steps {_steps(offset, axis)}")


def _check_strided(claim: Claim, offset: np.ndarray, names: dict[str, Any], notes: Notes) -> Finding:
    axis, stride = claim["lane_axis"], evaluate(claim["lane_stride"], names)
    if axis is None or offset.shape[axis] < 2 or stride is None or abs(stride) < 2:
        return Finding(None)
    fits = tile_holds(offset, axis, stride, notes)
    text = f"axis {axis}: stride {claim['lane_stride']} = {stride}, steps {_steps(offset, axis)}"
    return Finding(fits, "wrong stride", text)


def _check_parametric(claim: Claim, offset: np.ndarray, names: dict[str, Any], notes: Notes) -> Finding:
    axis, stride = claim["lane_axis"], evaluate(claim["lane_stride"], names)
    met = evaluate(claim["condition"], names)
    if axis is None or offset.shape[axis] < 2 or met is None:
        return Finding(None)
    if met:
        units = [
            k for k in range(offset.ndim) if tile_holds(offset, k, 1, notes, either_sign=True) is not False
        ]
        text = f"{claim['condition']} holds, steps {_steps(offset, axis)}"
        return Finding(bool(units), "wrong parametric", text)
    if stride is None:
        return Finding(None)
    fits = tile_holds(offset, axis, stride, notes)
    text = f"axis {axis}: stride {claim['lane_stride']} = {stride}, steps {_steps(offset, axis)}"
    return Finding(fits, "wrong parametric", text)


def _check_gather(_claim: Claim, _offset: np.ndarray, _names: dict[str, Any], _notes: Notes) -> Finding:
    return Finding(None)


CHECKS = {
    "uniform": _check_uniform,
    "contiguous": _check_contiguous,
    "strided": _check_strided,
    "parametric": _check_parametric,
    "gather": _check_gather,
}


def _depends_on_data(claim: Claim, runs: list[Run]) -> Finding:
    """A gather must change its steps when memory holds something else."""
    place = _site(claim)
    compared = 0
    for run in runs:
        for one, two in zip(run.records, run.other_data, strict=False):
            if _place(one) != _place(two):
                return Finding(True)  # even the path depends on data
            if _place(one) != place or one.offset.size < 2:
                continue
            compared += bool(one.offset.max() - one.offset.min() or two.offset.max() - two.offset.min())
            axes = range(one.offset.ndim)
            if any((steps_along(one.offset, k) != steps_along(two.offset, k)).any() for k in axes):
                return Finding(True)
    return Finding(False if compared else None, "wrong gather", "the steps do not depend on loaded data")


def _missed_contiguous(claim: Claim, seen: list[tuple[Record, Run]]) -> Finding | None:
    """An axis that has unit stride in every record, whatever the parameters were."""
    wide = [(r, run) for r, run in seen if r.offset.size and max(r.offset.shape, default=1) > 2]
    if len({id(run) for _, run in wide}) < 3:
        return None
    for axis in range(wide[0][0].offset.ndim):
        if all(axis < r.offset.ndim and always_unit(r.offset, axis) for r, _ in wide):
            return Finding(False, "missed contiguous", f"axis {axis} has unit stride in all runs")
    return None


def _steps(offset: np.ndarray, axis: int) -> str:
    steps = steps_along(offset, axis)
    return str(steps[0][:12].tolist()) if steps.size else "[]"


def _sample(offset: np.ndarray) -> str:
    return str(offset.reshape(-1)[:16].tolist())


def _shown(run: Run) -> str:
    return ", ".join(f"{k}={v}" for k, v in run.values.items() if isinstance(v, (bool, int)))
