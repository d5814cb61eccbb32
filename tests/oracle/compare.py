"""Holds the verdicts of an analyzer (as in its JSON contract) against recorded addresses.

A *site* is a place of the source with an access. Each claim at a site gets one outcome: agree, disagree (with
the kind of mistake), undecided, or not executed. The worst kinds are "wrong contiguous" and "wrong uniform":
silence about lanes that are apart.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import PurePath

from .claims import (
    OTHER_WAY,
    Claim,
    Finding,
    Run,
    chain_at,
    chain_of,
    check,
    offset_differs,
    other_axis_differs,
)
from .memory import Record
from .steps import always_unit, steps_along

Site = tuple[str, int, int]  #: file name, line, column
WORST = ("wrong contiguous", "wrong uniform")
OPEN_ENDED = {"gather", "unknown"}  #: what these say of one record cannot be refuted
MANY = 3  #: records


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
    return [c for c in claims if chain_of(c) == chain_at(record)] or claims


def _judge(claim: Claim, seen: list[tuple[Record, Run]], runs: list[Run], rivals: list[Claim]) -> Outcome:
    if not seen:
        return Outcome(claim, "not executed")
    if claim["pattern"] == "unknown":
        return Outcome(claim, "undecided", "unknown", claim.get("reason") or "")
    findings = []
    for record, run in seen:
        finding = check(claim, record, run)
        if finding.fits is False and len(rivals) > 1:
            others = [c for c in _candidates(rivals, record) if c is not claim]
            if any(c["pattern"] in OPEN_ENDED or check(c, record, run).fits for c in others):
                continue  # one verdict for several ways to the same place: another claim speaks of this one
        findings.append(finding)
    if claim["pattern"] == "gather":
        findings.append(_depends_on_data(claim, runs))
    wrong = next((f for f in findings if f.fits is False), None) or _never_seen(claim, findings, runs)
    settled = not {"branch", "clamp"} & set(claim["notes"])
    if wrong is None and claim["pattern"] in ("strided", "parametric") and settled:
        wrong = _missed_contiguous(claim, seen)
    if wrong is None and settled:
        wrong = _wrong_other_axis(claim, seen)
    if wrong is None:
        wrong = _wrong_offset(claim, seen, runs)
    if wrong is not None:
        return Outcome(claim, "disagree", wrong.kind, wrong.detail)
    if any(f.fits for f in findings):
        return Outcome(claim, "agree")
    return Outcome(claim, "undecided", "degenerate")


def _all_branches_taken(runs: list[Run]) -> bool:
    """Whether each branch that was reached went both ways in one run or another."""
    taken = set().union(*(run.taken for run in runs))
    return len(taken) == 2 * len({place for place, _ in taken})


def _never_seen(claim: Claim, findings: list[Finding], runs: list[Run]) -> Finding | None:
    """The verdict is on the worst of several ways; it is wrong if no lanes ever walk as it says.

    Ways that no launch took are no proof; which were taken is measured, for branches and choices of lanes.
    """
    others = [f for f in findings if f.kind == OTHER_WAY]
    # Lanes that all share one address may be those that take the worst way.
    seen = any(f.fits or f.kind != OTHER_WAY for f in findings)
    # Two choices may shut each other out: ``min(where(i < n, i, 3 * i), n)`` never walks by 3.
    several = len(re.findall(r"\b(?:where|min|max)\(", claim["offset"] or "")) > 1
    # Where two lanes make a run, each step has one that may be held: ``max(i * 8 % 16, 6)`` is 6, 8, 6, 8.
    held = "clamp" in claim["notes"] and any(n in ("run=2", "wrap(2)") for n in claim["notes"])
    if seen or several or held or len(others) < MANY or not _all_branches_taken(runs):
        return None
    return Finding(False, "never seen", others[0].detail)


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
            varied = bool(one.offset.max() - one.offset.min() or two.offset.max() - two.offset.min())
            # of several branches only those that load are judged
            compared += varied and ("branch" not in claim["notes"] or bool((one.offset != two.offset).any()))
            axes = range(one.offset.ndim)
            if any((steps_along(one.offset, k) != steps_along(two.offset, k)).any() for k in axes):
                return Finding(True)
    # Where a branch was never taken, or no lane chose one of two values, that may be the one that loads.
    chosen = "branch" in claim["notes"] or "where(" in (claim["offset"] or "")
    told = compared and (not chosen or _all_branches_taken(runs))
    return Finding(False if told else None, "wrong gather", "the steps do not depend on loaded data")


def _missed_contiguous(claim: Claim, seen: list[tuple[Record, Run]]) -> Finding | None:
    """An axis that has unit stride in every record, whatever the parameters were."""
    wide = [(r, run) for r, run in seen if r.offset.size and max(r.offset.shape, default=1) > 2]
    if len({id(run) for _, run in wide}) < 3:
        return None
    strides = {a["axis"]: a["stride"] or "" for a in claim.get("axes") or []}
    for axis in range(wide[0][0].offset.ndim):
        if "loaded" in strides.get(axis, ""):
            continue  # memory holds the same in all runs: there a loaded stride may be 1
        if all(axis < r.offset.ndim and always_unit(r.offset, axis) for r, _ in wide):
            return Finding(False, "missed contiguous", f"axis {axis} has unit stride in all runs")
    return None


def _wrong_offset(claim: Claim, seen: list[tuple[Record, Run]], runs: list[Run]) -> Finding | None:
    """The printed offset does not fit a record; where ways through the kernel differ, it fits none of them.

    The text may be that of a branch which no launch took, or only such for which it has no number.
    """
    mine = [(record, run) for record, run in seen if chain_of(claim) == chain_at(record)]
    judged = [offset_differs(claim, record, run) for record, run in mine]
    if True not in judged:
        return None
    several_ways = bool({"branch", "clamp"} & set(claim["notes"]))
    if several_ways and (False in judged or None in judged or not _all_branches_taken(runs)):
        return None
    record, run = mine[judged.index(True)]
    numbers = {k: v for k, v in run.values.items() if isinstance(v, (bool, int))}
    found = record.offset.reshape(-1)[:16].tolist()
    return Finding(False, "wrong offset", f"{claim['offset']} with {numbers}: {found}")


def _wrong_other_axis(claim: Claim, seen: list[tuple[Record, Run]]) -> Finding | None:
    """An axis beside the lane axis whose stride does not fit in most of the records."""
    votes: dict[int, list[tuple[bool, str]]] = defaultdict(list)
    for record, run in seen:
        if chain_of(claim) == chain_at(record):
            for axis, differs, text in other_axis_differs(claim, record, run):
                votes[axis].append((differs, text))
    for some in votes.values():
        wrong = [text for differs, text in some if differs]
        if 2 * len(wrong) > len(some):
            return Finding(False, "wrong other axis", wrong[0])
    return None
