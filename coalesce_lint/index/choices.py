"""Open choices in an offset: branches, ``tl.where``, comparisons used as numbers, clamps.

An offset with choices on which its lanes depend is expanded into alternatives without them; the verdict is
the worst of theirs. Choices that only move a scalar base are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from coalesce_lint.index import conditions, steps
from coalesce_lint.index.normalize import Normalizer
from coalesce_lint.index.poly import ONE, ZERO, Atom, Poly, of_atom
from coalesce_lint.reasons import Why

OPEN = frozenset(("select", "cmp", "extreme"))
MAX_ALTERNATIVES = 32


class TooManyChoices(Exception):
    """The offset has more than MAX_ALTERNATIVES alternatives."""


@dataclass
class Alternative:
    """One way the choices can fall.

    ``lanewise``: the axes along which lanes may choose differently; ``taken``: what was chosen where all
    lanes choose alike, as pairs of an atom's number and a choice; ``lone``: whether one lane is elsewhere;
    ``shifted``: the axes along which loaded data decide whether something is added that does not vary there.
    """

    offset: Poly
    lanewise: frozenset[int] = frozenset()
    jumps: list[steps.Jump] = field(default_factory=list)
    trouble: Why | None = None
    taken: frozenset[tuple[int, int]] = frozenset()
    lone: bool = False
    shifted: frozenset[int] = frozenset()


def alternatives(n: Normalizer, offset: Poly) -> list[Alternative]:
    """The offset with every choice made that its lanes depend on. Raises TooManyChoices."""
    done: list[Alternative] = []
    todo = [Alternative(offset)]
    while todo:
        alt = todo.pop()
        atom = next(_deciding(alt.offset), None)
        if atom is None:
            done.append(alt)
        else:
            todo.extend(_decide(n, alt, atom))
        if len(done) + len(todo) > MAX_ALTERNATIVES:
            raise TooManyChoices
    return done


def branch_ways(n: Normalizer, p: Poly) -> list[Poly]:
    """The values of p with each branch taken that all lanes take together; itself where too many."""
    done: list[Poly] = []
    todo = [p]
    while todo and len(done) + len(todo) <= MAX_ALTERNATIVES:
        way = todo.pop()
        atom = next((a for a in way.atoms() if a.kind == "select" and not _condition_lanes(a)), None)
        if atom is None:
            done.append(way)
        else:
            todo += [n.algebra.rebuild(way, {atom: arm}) for arm in atom.args[1:]]
    return [p] if todo else done


def _deciding(p: Poly, seen: set[Atom] | None = None) -> Iterator[Atom]:
    """Open atoms on which the lanes' step depends, conditions before what they choose."""
    seen = set() if seen is None else seen
    for m in p.terms:
        if not any(a.lanes for a in m):
            continue
        for a in m:
            yield from _open_inside(a, seen)


def _open_inside(a: Atom, seen: set[Atom]) -> Iterator[Atom]:
    if a in seen:
        return  # shared terms are looked at once
    seen.add(a)
    if a.kind == "cmp":
        if not a.wild:
            yield a
    elif a.kind in ("select", "extreme"):
        if a.kind == "select" and a.args[0] is not None and _held(a) is None:
            for b in a.args[0].atoms():
                yield from _open_inside(b, seen)
        yield a
    elif a.kind == "div" and a.lanes:
        # what only shifts the dividend does not change its steps
        for x in a.args:
            yield from _deciding(x, seen)


def _decide(n: Normalizer, alt: Alternative, atom: Atom) -> list[Alternative]:
    lane_wise = _condition_lanes(atom)
    extra: list[steps.Jump] = []
    trouble, shifted = alt.trouble, alt.shifted
    images = _images(n, atom)
    if atom.kind == "cmp" and lane_wise:
        extra, odd = conditions.switches_of(n, atom)
        trouble = trouble or odd
    elif lane_wise and atom.kind == "select":
        # its condition was not decided: one of its arms holds the lanes, each time that the condition changes
        extra, odd = conditions.switches(n, atom.args[0], loaded=True)
        trouble = trouble or odd
        varying = frozenset().union(*(a.lanes for _, a in images))
        shifted |= frozenset().union(*(a.wild for a in atom.args[0].atoms())) - varying
    out = []
    for k, (a, image) in enumerate(images):
        changed = n.algebra.rebuild(alt.offset, {a: image})
        taken = alt.taken if lane_wise else alt.taken | {(atom.number, k)}
        ways = (alt.lanewise | lane_wise, [*alt.jumps, *extra], trouble, taken, alt.lone, shifted)
        out.append(Alternative(changed, *ways))
    single = atom.kind == "cmp" and lane_wise and not alt.lone  # several such lanes are neighbours, maybe
    lone = conditions.lone_value(n, atom) if single else None
    if lone is not None and (out[0].offset - out[1].offset).lanes <= atom.lanes:
        return [replace(out[1 - lone], lone=True)]  # one lane takes no step
    held = [k for k, (_, image) in enumerate(images) if not image.lanes]
    clamp = lane_wise and len(images) == 2 and len(held) == 1
    if clamp:
        free, still = out[1 - held[0]], out[held[0]]
        if all(_stands_still(n, free.offset, still.offset, axis) for axis in atom.lanes):
            return [free]  # the held lanes share one address
    return out


def _stands_still(n: Normalizer, free: Poly, still: Poly, axis: int) -> bool:
    """True where lanes held by a choice share one address, at least those of a row of a flattened tile: the
    lanes that are ``free`` take smaller steps then.
    """
    slow = [s for part in _parts(still, axis) for s in _settled(n, part, axis) or [steps.Steps("unknown")]]
    fast = _moving(n, free, axis)
    if all(s.kind == "none" for s in slow):
        return any(s.kind != "none" for s in fast) or not fast  # else all lanes are at one of two places
    if not slow or not fast or any(s.kind != "regular" for s in fast):
        return False
    return all(
        s.kind == "none"
        or s.held
        or (s.kind == "regular" and all(steps.smaller(n, f.repeat, s.repeat) for f in fast))
        for s in slow
    )


def _parts(p: Poly, axis: int) -> list[Poly]:
    """The terms without open choices along an axis as one polynomial, each of the others alone."""
    plain, parts = {}, []
    for m, c in p.terms.items():
        if next((a for a in _deciding(Poly({m: c})) if axis in a.lanes), None) is None:
            plain[m] = c
        else:
            parts.append(Poly({m: c}))
    return [Poly(plain), *parts]


def _moving(n: Normalizer, p: Poly, axis: int) -> list[steps.Steps]:
    """The steps of p along an axis for each way in which choices fall; those in terms that only step from row
    to row are left open.
    """
    ways = [(part, _settled(n, part, axis)) for part in _parts(p, axis)]
    fine = [
        (part, some)
        for part, some in ways
        if not some or any(s.repeat == ONE and s.kind != "none" for s in some)
    ]
    if len(fine) == 1:
        return [s for s in fine[0][1] if s.kind != "none"]
    return _settled(n, p, axis)


def _settled(n: Normalizer, p: Poly, axis: int, depth: int = 4) -> list[steps.Steps]:
    """The steps along an axis for each way in which up to ``depth`` choices fall; [] where there are more."""
    atom = next((a for a in _deciding(p) if axis in a.lanes), None)
    if atom is None:
        return [steps.along(n, p, axis)]
    found: list[steps.Steps] = []
    for _, image in _images(n, atom) if depth else ():
        some = _settled(n, n.algebra.rebuild(p, {atom: image}), axis, depth - 1)
        if not some:
            return []
        found += some
    return found


def _images(n: Normalizer, atom: Atom) -> list[tuple[Atom, Poly]]:
    """What an open atom may be."""
    if atom.kind == "cmp":
        return [(atom, ZERO), (atom, ONE)]
    return [(atom, x) for x in atom.args] if atom.kind == "extreme" else _select_images(n, atom)


def _condition_lanes(atom: Atom) -> frozenset[int]:
    if atom.kind == "select":
        return atom.args[0].lanes if atom.args[0] is not None else frozenset()
    return atom.lanes


def _select_images(n: Normalizer, atom: Atom) -> list[tuple[Atom, Poly]]:
    cond, a, b = atom.args
    if cond is None or not cond.lanes:
        return [(atom, a), (atom, b)]
    if _held(atom) is not None:
        return [(atom, a), (atom, b)]
    if not any(x.wild for x in cond.atoms()):
        return [(atom, a), (atom, b)]
    lanes = tuple(sorted(atom.lanes))
    mixed = n.algebra.free("data", (atom.number, "where"), lanes, data=True, origin=(cond, a, b))
    return [(atom, of_atom(mixed))]


def _held(atom: Atom) -> Poly | None:
    """The arm of a lane-wise choice that varies by lane; the other one holds the lanes at one address."""
    cond, a, b = atom.args
    if cond is None or not cond.lanes:
        return None
    varying = [x for x in (a, b) if x.lanes]
    return varying[0] if len(varying) == 1 else None
