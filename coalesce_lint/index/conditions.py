"""What conditions say: of single atoms where they hold, and where they change from lane to lane."""

from __future__ import annotations

from collections.abc import Iterable

from coalesce_lint.index import ranges, steps
from coalesce_lint.index.normalize import Normalizer
from coalesce_lint.index.poly import ONE, ZERO, Atom, Poly, of_atom
from coalesce_lint.reasons import Reason, Why

#: Of fewer lanes than these a single one is too many to leave out; breaks so close are no runs of lanes.
FEW_LANES = 8


def facts_of(n: Normalizer, guards: Iterable[tuple[Poly, bool]]) -> dict[Atom, Poly]:
    """What the branch conditions around an access say of single atoms."""
    facts: dict[Atom, Poly] = {}
    for p, holds in guards:
        if p.constant is not None:
            continue
        _learn(p if holds else ONE - p, facts)
    return facts


def _learn(p: Poly, facts: dict[Atom, Poly]) -> None:
    """p == 1 holds: a product of comparisons has all of them true, ``1 - c`` has c false."""
    one = p.single()
    if one is not None and one[1] == 1:
        for a in one[0]:
            if a.kind == "cmp":
                facts[a] = ONE
                _learn_equal(a, facts)
        return
    if p.terms.get(()) == 1 and len(p.terms) == 2:
        m, c = next((m, c) for m, c in p.terms.items() if m)
        if c == -1 and len(m) == 1 and m[0].kind == "cmp":
            facts[m[0]] = ZERO
        return
    # not a and not b and ...: (1 - a) * (1 - b) multiplied out vanishes where any of its atoms is 1
    atoms = [a for a in p.atoms() if a.kind == "cmp"]
    if p.terms.get(()) == 1 and atoms and len(p.terms) == 2 ** len(atoms):
        for a in atoms:
            facts[a] = ZERO
        return
    # mixed products such as a * (1 - b): atoms that are in every term hold
    common = set(next(iter(p.terms), ()))
    for m in p.terms:
        common &= set(m)
    for a in common:
        if a.kind == "cmp":
            facts[a] = ONE
            _learn_equal(a, facts)
    rest = [m for m in p.terms if len(m) == len(common) + 1]
    if common and len(p.terms) == 2 and len(rest) == 1 and p.terms[rest[0]] == -1:
        for a in rest[0]:
            if a not in common and a.kind == "cmp":
                facts[a] = ZERO


def _learn_equal(a: Atom, facts: dict[Atom, Poly]) -> None:
    """``PARAM == 4`` holds: the parameter is 4."""
    if a.attr != "equal":
        return
    (d,) = a.args
    names = [x for x in d.atoms() if x.kind == "param"]
    if (
        len(names) == 1
        and abs(d.terms.get((names[0],), 0)) == 1
        and len(d.terms) <= 2
        and len(d.atoms()) == 1
    ):
        sign = d.terms[(names[0],)]
        facts[names[0]] = Poly({m: -c * sign for m, c in d.terms.items() if not m})


def switches(n: Normalizer, condition: Poly, loaded: bool = False) -> tuple[list[steps.Jump], Why | None]:
    """Where a condition changes from lane to lane, or why that cannot be told. ``loaded``: it may depend on
    loaded data, which are taken not to change it from one of the lanes that they belong to to the next.
    """
    found: list[steps.Jump] = []
    for atom in condition.atoms():
        if not atom.lanes or (loaded and atom.kind != "cmp" and atom.lanes <= atom.wild):
            continue
        if atom.kind != "cmp" or (atom.wild and not loaded):
            return [], Reason.LANE_CHOICE.why
        jumps, trouble = switches_of(n, atom)
        if trouble is not None:
            return [], trouble
        found += jumps
    return found, None


def switches_of(n: Normalizer, atom: Atom) -> tuple[list[steps.Jump], Why | None]:
    """Where a lane-wise comparison changes along its axes: once for a straight line, else with a period.

    Along axes on which it depends on loaded data only where these are the same for runs of lanes.
    """
    found: list[steps.Jump] = []
    for axis in sorted(atom.wild):
        held = [s for x in atom.args if (s := steps.along(n, x, axis)).held or s.rows]
        found += [steps.Jump(j.period) for s in held for j in s.jumps]
    if any(j.period.constant is not None and j.period.constant < FEW_LANES for j in found):
        return found, Reason.LANE_CHOICE.why
    for axis in atom.lanes - atom.wild:
        moves = [s for x in atom.args if (s := steps.along(n, x, axis)).kind != "none"]
        if any(s.kind != "regular" for s in moves):
            return found, Reason.LANE_CHOICE.why
        periods = [j.period for s in moves for j in s.jumps]
        if atom.attr == "equal" or len(moves) > 1:
            # a single staircase passes a bound once, as a straight line does
            periods += [s.repeat for s in moves if s.repeat != ONE]
        short = [p for p in periods if p.constant is not None and p.constant < FEW_LANES]
        if short or (periods and atom.attr == "equal"):
            return found, Reason.LANE_CHOICE.why
        found += [steps.Jump(p) for p in periods]
    return found, None


def lone_value(n: Normalizer, test: Atom) -> int | None:
    """The value (0 or 1) that a comparison along one axis has at one lane at most: ``i == x``, ``i < 1``.

    None where the axis has too few lanes for one of them not to matter.
    """
    if len(test.lanes) != 1 or test.wild:
        return None
    (axis,) = test.lanes
    index = next((x for p in test.args for x in n.algebra.leaves(p) if x.kind == "lane"), None)
    if index is None or (index.args[0].constant or FEW_LANES) < FEW_LANES:
        return None
    if test.attr == "equal":
        s = steps.along(n, test.args[0], axis)
        straight = s.kind == "regular" and s.repeat == ONE and not s.jumps
        return 1 if straight and _never_zero(n, s.stride) else None
    a, b = test.args
    lane = of_atom(index)
    return 1 if b - a == ONE - lane else 0 if b - a == lane else None


def _never_zero(n: Normalizer, stride: Poly) -> bool:
    """``pid * i == 0`` holds at every lane of the first program."""
    return any(ranges.nonneg(n.algebra, s - ONE) for s in (stride, -stride))
