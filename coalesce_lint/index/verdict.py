"""The verdict on one offset: which axis could serve the lanes best, with which stride.

The order of the questions: is there an axis with stride 1; does another variable own the unit stride; is an
axis stride a bare stride argument that a launch may make 1; else the access is strided.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace

from coalesce_lint.index import choices, lanes, order, owners, steps
from coalesce_lint.index.conditions import switches
from coalesce_lint.index.normalize import Normalizer
from coalesce_lint.index.poly import ONE, Atom, Poly, TooLarge
from coalesce_lint.reasons import Reason, Why

RANK = {"strided": 0, "unknown": 1, "gather": 2, "parametric": 3, "contiguous": 4, "uniform": 5}
_STRIDE_NAME = re.compile("stride", re.IGNORECASE)


@dataclass
class Verdict:
    """``strides`` holds for each axis its Steps; ``owner`` is the scalar term that owns the unit stride."""

    pattern: str
    lane_axis: int | None = None
    stride: Poly | None = None
    condition: Atom | None = None
    owner: Poly | None = None
    strides: dict[int, steps.Steps] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    reason: Why | None = None
    offset: Poly | None = None
    way: Poly | None = None  #: the offset by the way through its choices that the verdict speaks of


@dataclass
class Context:
    """What the verdict needs to know beside the offset.

    ``extents`` maps each axis of extent other than 1 to its extent; ``is_size`` tells whether a runtime
    parameter is used as a bound or in a product of sizes; ``show`` prints a polynomial for notes.
    """

    n: Normalizer
    extents: dict[int, Poly]
    is_size: Callable[[Atom], bool]
    show: Callable[[Poly], str]


def judge(context: Context, offset: Poly) -> Verdict:
    """The worst verdict over the alternatives of ``offset``, which holds no root pointer and no carried
    atoms.
    """
    worst = _by_rules(context, offset)
    if worst.pattern == "unknown" and worst.reason in _TRY_LANES:
        worst = _by_lanes(context, offset) or worst
    return replace(worst, offset=offset, way=worst.offset)


def judge_descriptor(context: Context, offset: Poly, last: int, stride: Poly) -> Verdict:
    """The verdict on a descriptor's access: that of its last stride, whatever the box."""
    ways = [_by_last_stride(context, offset, last, way) for way in choices.branch_ways(context.n, stride)]
    worst = min(ways, key=lambda v: (RANK[v.pattern], context.show(v.stride) if v.stride is not None else ""))
    if len({(v.pattern, v.stride) for v in ways}) > 1:
        worst.notes.append("branch")
    return worst


def _by_last_stride(context: Context, offset: Poly, last: int, stride: Poly) -> Verdict:
    moves = {axis: steps.along(context.n, offset, axis) for axis in context.extents}
    verdict = Verdict("strided", last, stride, strides=moves, offset=offset)
    if any(s.kind == "gather" for k, s in moves.items() if k != last):
        verdict.notes.append("rows=gather")
    argument = stride_argument(context.is_size, stride)
    if stride == ONE:
        return replace(verdict, pattern="contiguous")
    if argument is not None:
        return replace(verdict, pattern="parametric", condition=argument)
    unclear = next((a.reason for a in stride.atoms() if a.reason and not a.data), None)
    return replace(verdict, pattern="unknown", reason=unclear) if unclear else verdict


def chosen_by_lanes(context: Context, verdict: Verdict, conditions: Iterable[Poly]) -> Verdict:
    """``verdict`` where the lanes take one of several pointers, each by its own conditions."""
    periods: list[Poly] = []
    for condition in conditions:
        jumps, trouble = switches(context.n, condition)
        if trouble is not None and verdict.pattern != "gather":
            return replace(verdict, pattern="unknown", reason=trouble)
        periods += [j.period for j in jumps]
    if verdict.pattern == "uniform":  # at one place of each pointer, that is at several
        return replace(verdict, pattern="unknown", reason=Reason.LANE_CHOICE.why)
    runs = [f"run={context.show(p)}" for p in periods]
    return replace(verdict, notes=list(dict.fromkeys([*verdict.notes, *runs, "clamp"])))


#: Reasons that evaluation lane by lane may settle.
_TRY_LANES = frozenset(
    r.why
    for r in (
        Reason.LANE_CHOICE,
        Reason.IRREGULAR,
        Reason.VARYING,
        Reason.TOO_MANY_BRANCHES,
        Reason.CANCELLED,
    )
)


def _by_lanes(context: Context, offset: Poly) -> Verdict | None:
    """The verdict from the offset's values at its first lanes; None where they stay symbolic."""
    moves: dict[int, steps.Steps] = {}
    try:
        for axis, extent in context.extents.items():
            found = lanes.evaluated(context.n, offset, axis, extent)
            if found is None:
                found = steps.along(context.n, offset, axis)
                if found.kind == "unknown" or axis in _open_axes(offset):
                    return None
            moves[axis] = found
    except TooLarge:
        return None
    return _from_steps(context, offset, moves)


def _open_axes(offset: Poly) -> frozenset[int]:
    """The axes on which open choices depend."""
    found = [a.lanes for a in offset.atoms() if a.kind in choices.OPEN]
    return frozenset().union(*found)


def _by_rules(context: Context, offset: Poly) -> Verdict:
    try:
        options = choices.alternatives(context.n, offset)
    except choices.TooManyChoices:
        return Verdict("unknown", reason=Reason.TOO_MANY_BRANCHES.why, offset=offset)
    except TooLarge:
        return Verdict("unknown", reason=Reason.TOO_LARGE.why, offset=offset)
    verdicts = [_judge_one(context, alt) for alt in options]
    lanewise = frozenset().union(*(a.lanewise for a in options))
    dense = [v for v in verdicts if v.pattern == "contiguous"]
    alone = all(v.pattern in ("contiguous", "uniform") for v in verdicts)
    if alone and len({v.lane_axis for v in dense}) > 1:
        common = frozenset.intersection(*(_unit_axes(v.strides) for v in dense))
        if common:
            # one axis for all lanes: that with the fewest breaks, the last of equals
            ways = [[_judge_one(context, a, frozenset((k,))) for a in options] for k in sorted(common)[::-1]]
            verdicts = min(ways, key=lambda some: max(len(v.notes) for v in some))
        elif lanewise:
            # some lanes are next to each other along one axis, some along another
            return Verdict("unknown", reason=Reason.LANE_CHOICE.why, offset=offset)
    # Among equally bad ones the first in this order: the answer must not depend on the order of expansion.
    worst = min(
        verdicts,
        key=lambda v: (
            RANK[v.pattern],
            _repeats(v),
            context.show(v.stride) if v.stride is not None else "",
            -len(v.notes),
        ),
    )
    differing = {(v.pattern, v.lane_axis, v.stride, tuple(v.notes)) for v in verdicts}
    if lanewise and worst.pattern != "unknown":
        worst.notes[:] = [*_jumps_of_all(worst, verdicts), "clamp"]
    if len(differing) > 1 and (not lanewise or _differ_by_branch(options, verdicts)):
        worst.notes.append("branch")
    for axis, found in worst.strides.items():
        alike = (
            len({(v.strides[axis].kind, v.strides[axis].stride) for v in verdicts if axis in v.strides}) <= 1
        )
        if (axis in lanewise and (axis != worst.lane_axis or len(differing) > 1)) or not (
            alike or axis == worst.lane_axis
        ):
            # other lanes or other branches take another step along this axis
            worst.strides[axis] = steps.unknown(Reason.LANE_CHOICE) if found.kind != "gather" else found
    elsewhere = len({a.offset for a in options}) > 1 or any(a.lone for a in options)
    if worst.pattern == "uniform" and lanewise and elsewhere:
        return replace(worst, pattern="unknown", reason=Reason.LANE_CHOICE.why)
    return worst


def _jumps_of_all(worst: Verdict, verdicts: list[Verdict]) -> list[str]:
    """The notes of ``worst`` with the breaks that lanes have which choose otherwise."""
    alike = [v for v in verdicts if (v.pattern, v.lane_axis) == (worst.pattern, worst.lane_axis)]
    breaks = [t for v in alike for t in v.notes if t.startswith(("wrap(", "run=", "piecewise"))]
    return list(dict.fromkeys([*(t for t in worst.notes if t in breaks), *breaks, *worst.notes]))


def _unit_axes(moves: dict[int, steps.Steps]) -> frozenset[int]:
    return frozenset(k for k, s in moves.items() if s.kind == "regular" and s.stride in (ONE, -ONE))


def _differ_by_branch(options: list[choices.Alternative], verdicts: list[Verdict]) -> bool:
    """True where the verdicts differ also between ways that all lanes take together."""
    found: dict[frozenset[tuple[int, int]], set[Hashable]] = {}
    for alt, v in zip(options, verdicts, strict=True):
        found.setdefault(alt.taken, set()).add((v.pattern, v.lane_axis, v.stride, tuple(v.notes)))
    return any(some != next(iter(found.values())) for some in found.values())


def _repeats(v: Verdict) -> bool:
    """True where neighbouring lanes share elements: of two strides the one without is the worse."""
    return v.lane_axis is not None and v.lane_axis in v.strides and v.strides[v.lane_axis].repeat != ONE


def _judge_one(context: Context, alt: choices.Alternative, among: frozenset[int] | None = None) -> Verdict:
    n, offset = context.n, alt.offset
    moves = {axis: steps.along(n, offset, axis) for axis in context.extents}
    return _from_steps(context, offset, moves, alt, among)


def _from_steps(
    context: Context,
    offset: Poly,
    moves: dict[int, steps.Steps],
    alt: choices.Alternative | None = None,
    among: frozenset[int] | None = None,
) -> Verdict:
    """The verdict for an offset that moves along each axis as ``moves`` says.

    ``among`` restricts which axis of stride 1 may serve the lanes.
    """
    stray = [a for a in offset.lanes if a not in context.extents]
    moves = {k: steps.unknown(Reason.VARYING) if s.stride.lanes else s for k, s in moves.items()}
    for k in _unit_axes(moves) & (alt.shifted if alt is not None else frozenset()):
        moves[k] = steps.unknown(Reason.LANE_CHOICE)
    varying = {k: s for k, s in moves.items() if s.kind != "none"}
    verdict = Verdict("uniform", strides=moves, offset=offset)
    if stray:
        reason = next(
            (a.reason for a in offset.atoms() if a.reason and not a.lanes <= set(context.extents)), None
        )
        return replace(verdict, pattern="unknown", reason=reason or Reason.SHAPE.why)
    if not varying:
        return verdict
    if alt is not None and alt.trouble:
        return replace(verdict, pattern="unknown", reason=alt.trouble)
    if alt is not None and alt.jumps:
        varying = {k: replace(s, jumps=(*s.jumps, *_other(s, alt.jumps))) for k, s in varying.items()}
        moves.update(varying)
    regular = {k: s for k, s in varying.items() if s.kind == "regular"}
    unit = sorted(_unit_axes(regular) if among is None else _unit_axes(regular) & among)
    if unit:
        best = order.best_unit(regular, unit)
        return _finish(
            context, replace(verdict, pattern="contiguous", lane_axis=best, stride=regular[best].stride)
        )
    bad = [s for s in varying.values() if s.kind == "unknown"]
    if bad:
        return replace(verdict, pattern="unknown", reason=bad[0].reason)
    if not regular:
        last = max(varying)
        compact = all(s.compaction for s in varying.values())
        return replace(verdict, pattern="gather", lane_axis=last, notes=["compaction"] if compact else [])
    return _finish(context, _no_unit_axis(context, verdict, regular, offset))


def _other(s: steps.Steps, jumps: Iterable[steps.Jump]) -> list[steps.Jump]:
    """The jumps whose periods the steps do not have yet."""
    return [j for j in jumps if all(j.period != k.period for k in s.jumps)]


def _no_unit_axis(
    context: Context, verdict: Verdict, regular: dict[int, steps.Steps], offset: Poly
) -> Verdict:
    unclear = _unclear_multiplier(regular)
    if unclear is not None:
        return replace(verdict, pattern="unknown", reason=unclear)
    owner = owners.unit_owner(offset)
    if owner is None:
        arguments = {
            k: a for k, s in regular.items() if (a := stride_argument(context.is_size, s.stride)) is not None
        }
        if arguments:
            axis = order.smallest(context.n, {k: regular[k].stride for k in arguments})
            return replace(
                verdict,
                pattern="parametric",
                lane_axis=axis,
                stride=regular[axis].stride,
                condition=arguments[axis],
            )
    axis = order.smallest(context.n, {k: s.stride for k, s in regular.items()})
    return replace(verdict, pattern="strided", lane_axis=axis, stride=regular[axis].stride, owner=owner)


def _unclear_multiplier(regular: dict[int, steps.Steps]) -> Why | None:
    """The reason why a multiplier is not understood. Loaded scalars are: they are strides of unknown size."""
    for s in regular.values():
        for a in s.stride.atoms():
            if a.reason is not None and not a.data:
                return a.reason
    return None


def stride_argument(is_size: Callable[[Atom], bool], stride: Poly) -> Atom | None:
    """The parameter where the stride is nothing but a stride argument."""
    atom = stride.single_atom() or (-stride).single_atom()
    if atom is None or atom.kind != "param":
        return None
    if atom.attr.constexpr:
        return atom if _STRIDE_NAME.search(atom.attr.name) else None
    return None if is_size(atom) else atom


def _finish(context: Context, v: Verdict) -> Verdict:
    """Adds the notes that qualify the verdict."""
    notes = list(v.notes)
    if v.lane_axis is None:
        return v
    s = v.strides[v.lane_axis]
    for j in s.jumps:
        if j.wrap is not None:
            notes.append(f"wrap({context.show(j.wrap)})")
    plain = [j for j in s.jumps if j.wrap is None or j.period.constant is not None]
    if plain:
        fixed = sorted(
            (j for j in plain if j.period.constant is not None), key=lambda j: j.period.constant or 0
        )
        symbolic = [j for j in plain if j.period.constant is None]
        coarser = [j for j in fixed[1:] if not j.falls_on(fixed[0])]
        notes += [f"run={context.show(j.period)}" for j in [*fixed[:1], *coarser, *symbolic]]
    if s.repeat != ONE:
        notes.append(f"repeat={context.show(s.repeat)}")
    if v.stride == -ONE:
        notes.append("reversed")
    if s.turned:
        notes.append("piecewise")
    if s.rows or any(t.kind == "gather" or t.rows for k, t in v.strides.items() if k != v.lane_axis):
        notes.append("rows=gather")
    shift = (v.offset.terms.get((), 0) if v.offset is not None else 0) or 0
    if v.pattern == "contiguous" and shift % 4:
        notes.append(f"misaligned({shift:+d})")
    return replace(v, notes=notes)
