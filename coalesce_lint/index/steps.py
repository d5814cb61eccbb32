"""How a value moves from one lane to the next along a tile axis.

For offsets without open choices (see ``choices.py``) the answer is one regular step, possibly taken only
every ``repeat`` lanes, possibly with jumps every ``period`` lanes (a wrap, the end of a row).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from coalesce_lint.index import ranges
from coalesce_lint.index.normalize import Normalizer
from coalesce_lint.index.poly import ONE, ZERO, Atom, Poly, exact_quotient, number
from coalesce_lint.reasons import Reason, Why


@dataclass(frozen=True)
class Jump:
    """A break of the regular step every ``period`` lanes; ``wrap``: the modulus where it starts over.

    ``shift``: lanes from a break to the first lane, up to multiples of the period; None where not known.
    """

    period: Poly
    wrap: Poly | None = None
    shift: Poly | None = None

    def falls_on(self, other: Jump) -> bool:
        """True where each of its breaks is surely one of ``other``."""
        if self.shift is None or other.shift is None or exact_quotient(self.period, other.period) is None:
            return False
        return self.shift == other.shift or exact_quotient(self.shift - other.shift, other.period) is not None


@dataclass(frozen=True)
class Steps:
    """``kind`` is "none" (no dependence on the axis), "regular", "gather" or "unknown" (with its ``reason``).

    "irregular" occurs for quotients only: steps of 0 or ``stride``, at least ``repeat`` lanes apart.
    """

    kind: str = "none"
    stride: Poly = ZERO
    repeat: Poly = ONE
    jumps: tuple[Jump, ...] = ()
    shift: Poly | None = None  #: where the groups of lanes that share an element begin, as in ``Jump``
    reason: Why | None = None
    compaction: bool = False
    turned: bool = False  #: a truncated division may change its sign once along the axis
    rows: bool = False  #: some of the jumps lead to loaded places
    held: bool = False  #: a gather that stays at one place between its jumps

    @property
    def choppy(self) -> bool:
        """True where jumps are so close that half of the steps may be another one than the stride."""
        return any(j.period.constant is not None and j.period.constant < 4 for j in self.jumps)


#: Atoms whose value at a lane is made of that of their arguments at the lane.
COMPOUND = frozenset(("div", "cmp", "select", "extreme"))


def unknown(reason: Reason) -> Steps:
    return Steps("unknown", reason=reason.why)


def along(n: Normalizer, p: Poly, axis: int) -> Steps:
    """The steps of ``p`` along ``axis``, everything else fixed."""
    stride = ZERO
    terms: dict[Atom, Poly] = {}
    gather: Steps | None = None
    trouble: Why | None = None
    held: list[Jump] = []
    for m, c in p.terms.items():
        moving = [a for a in m if axis in a.lanes]
        if not moving:
            continue
        rest = Poly({tuple(a for a in m if axis not in a.lanes): c})
        arbitrary = [a for a in moving if axis in a.wild]
        if arbitrary:
            runs = held_runs(n, arbitrary[0], axis) if len(moving) == 1 else None
            held += runs.jumps if runs is not None else ()
            compact = all(_is_compaction(a, axis) for a in arbitrary) and len(moving) == 1
            compact = compact and (gather is None or gather.compaction)
            still = runs is not None and (gather is None or gather.held)
            turned = (gather is not None and gather.turned) or (runs is not None and runs.turned)
            gather = Steps("gather", compaction=compact, held=still, turned=turned)
        elif len(moving) > 1:
            trouble = Reason.VARYING.why
        elif moving[0].kind == "lane":
            stride = stride + rest
        elif moving[0].kind == "div":
            terms[moving[0]] = terms.get(moving[0], ZERO) + rest
        else:
            trouble = moving[0].reason or Reason.LANE_VALUE.of(moving[0].kind)
    if gather is not None and not gather.held:
        return gather
    if trouble is not None:
        # beside what is held between its jumps something else varies in a way that has no rule
        return replace(gather, held=False) if gather is not None else Steps("unknown", reason=trouble)
    found = _combine(n, stride, [(f, _quotient(n, atom, axis), atom) for atom, f in terms.items() if f.terms])
    return found if gather is None else _with_rows(n, found, gather, held)


def _with_rows(n: Normalizer, found: Steps, gather: Steps, held: list[Jump]) -> Steps:
    """``found`` plus loaded values that stay the same for runs of lanes (a table indexed by the row)."""
    if found.kind != "regular" or not all(smaller(n, found.repeat, j.period) for j in held):
        return replace(gather, jumps=merged(held))
    turned = found.turned or gather.turned
    return _jumping(replace(found, rows=True, turned=turned), [*held, *found.jumps])


def held_runs(n: Normalizer, a: Atom, axis: int) -> Steps | None:
    """Where a loaded value may change along an axis: between runs of lanes; None where at every lane."""
    runs: list[Jump] = []
    turned = False
    inputs = n.algebra.inputs(a)
    if a.kind in COMPOUND:
        inputs = tuple(x for x in a.args if x is not None)
    for k, p in enumerate(inputs):
        if axis not in p.lanes:
            continue
        if k and a.kind == "load" and _switches_once(n, p, axis):
            turned = True  # a mask that ends once: past its end something else is loaded
            continue
        s = along(n, p, axis)
        if s.kind == "none":
            continue
        turned = turned or s.turned
        if s.kind == "regular" and s.repeat != ONE:
            runs += [Jump(s.repeat, shift=s.shift), *(Jump(j.period, shift=j.shift) for j in s.jumps)]
        elif s.kind == "gather" and s.held:
            runs += s.jumps
        else:
            return None
    return Steps("gather", jumps=merged(runs), turned=turned) if inputs else None


def _switches_once(n: Normalizer, p: Poly, axis: int) -> bool:
    """True where all that varies in a condition are comparisons of straight lines with each other."""
    for a in p.atoms():
        if axis not in a.lanes:
            continue
        if a.kind != "cmp" or a.attr != "less":
            return False
        for x in a.args:
            s = along(n, x, axis)
            if s.kind != "none" and (s.kind != "regular" or s.repeat != ONE or s.jumps or s.turned):
                return False
    return True


def _is_compaction(a: Atom, axis: int) -> bool:
    name = a.attr[1] if isinstance(a.attr, tuple) and len(a.attr) > 1 else None
    return isinstance(name, tuple) and name[0] == "compaction"


def _quotient(n: Normalizer, atom: Atom, axis: int) -> Steps:
    """The steps of ``x // c``, found once for each division: later ones may hold it many times over."""
    known = n.quotients.get((atom, axis))
    if known is None:
        known = n.quotients[atom, axis] = _new_quotient(n, atom, axis)
    return known


def _new_quotient(n: Normalizer, atom: Atom, axis: int) -> Steps:
    x, c = atom.args
    if axis in c.lanes:
        return unknown(Reason.LANE_DIVISOR)
    inner = along(n, x, axis)
    if inner.kind != "regular":
        return inner
    s = inner.stride
    direct = exact_quotient(s, c)
    if direct is not None:
        if atom.attr == "trunc" and any(_few_groups(j.period, inner.repeat) for j in inner.jumps):
            return unknown(Reason.IRREGULAR)  # the step where the dividend turns its sign is a shorter one
        return Steps("regular", direct, inner.repeat, inner.jumps, shift=inner.shift, turned=inner.turned)
    if any(j.wrap is None for j in inner.jumps):
        return unknown(Reason.IRREGULAR)  # where the rows end moves with the quotient
    sign = -1 if all(v < 0 for v in s.terms.values()) else 1
    per = exact_quotient(c, s.scale(sign))
    if per is None:
        if not _clearly_less(n, s.scale(sign), c):
            return unknown(Reason.IRREGULAR)
        return Steps("irregular", number(sign), n.algebra.div(c, s.scale(sign), "floor"), jumps=inner.jumps)
    shift = _shift(x, s, axis) if inner.repeat == ONE else None
    return Steps("regular", number(sign), inner.repeat * per, inner.jumps, shift=shift, turned=inner.turned)


def _few_groups(period: Poly, repeat: Poly) -> bool:
    """True where so few groups of lanes lie between two breaks that one odd step among them counts."""
    groups = exact_quotient(period, repeat)
    return groups is not None and groups.constant is not None and groups.constant < 4


def _shift(x: Poly, s: Poly, axis: int) -> Poly | None:
    """x / s without the lane, where x is a straight line: so many lanes before its zero the lanes start."""
    still = Poly({m: c for m, c in x.terms.items() if not any(axis in a.lanes for a in m)})
    lane = [a for m in x.terms for a in m if axis in a.lanes]
    return exact_quotient(still, s) if len(lane) == 1 and lane[0].kind == "lane" else None


def _clearly_less(n: Normalizer, s: Poly, c: Poly) -> bool:
    """True where 2 * s <= c is sure."""
    # sizes are whole: N - N // 2 is proved after scaling, as 2 * N - 2 * (N // 2) = N + N % 2
    return any(ranges.nonneg(n.algebra, (c - s.scale(2)).scale(k)) for k in (1, 2))


def _combine(n: Normalizer, stride: Poly, parts: list[tuple[Poly, Steps, Atom]]) -> Steps:
    """The steps of ``stride * lane`` plus the sum of factor * part."""
    jumps: list[Jump] = []
    repeats: list[tuple[Poly, Poly, Poly | None]] = []  # (repeat, step, shift)
    uneven: list[tuple[Poly, Poly]] = []  # (step, at least so many lanes apart)
    varies, turned = bool(stride.terms), False
    for factor, steps, atom in parts:
        if steps.kind == "none":
            continue
        if steps.kind == "irregular":
            uneven.append((factor * steps.stride, steps.repeat))
            continue
        if steps.kind != "regular":
            return steps
        varies = True
        turned = (
            turned or steps.turned or atom.attr == "trunc"
        )  # the remainder changes its sign with the dividend
        jumps += steps.jumps
        if steps.repeat == ONE:
            stride = stride + factor * steps.stride
        else:
            repeats.append((steps.repeat, factor * steps.stride, steps.shift))
    if uneven:
        # a wrap at uneven distances leaves a stride that is not 1 what it is; a step that is only uneven has
        # no rule
        if (
            not stride.terms
            or stride in (ONE, -ONE)
            or any(stride + f in (ONE, -ONE, ZERO) for f, _ in uneven)
        ):
            return unknown(Reason.IRREGULAR)
        jumps += [Jump(period) for _, period in uneven]
    if not varies:
        return Steps()
    modes = {(s.repeat, a.attr) for _, s, a in parts if s.kind == "regular" and s.repeat != ONE}
    if any(mode == "trunc" and (repeat, "floor") in modes for repeat, mode in modes):
        return unknown(Reason.IRREGULAR)  # past the turn the truncated one breaks at other lanes
    if stride.terms:
        for repeat, step, shift in repeats:
            jumps.append(Jump(repeat, _wrapped(stride, repeat, step), shift))
        return _jumping(Steps("regular", stride, turned=turned), jumps)
    if not repeats:
        return Steps("none") if not (jumps or turned) else unknown(Reason.CANCELLED)
    return replace(_finest(n, repeats, jumps), turned=turned)


def _jumping(found: Steps, jumps: Iterable[Jump]) -> Steps:
    """``found`` with its jumps; unknown where two of one period fall on different lanes: then the runs are
    shorter than the period by what is not known.
    """
    kept = merged(jumps)
    alike = len({j.period for j in kept}) < len(kept)
    return unknown(Reason.IRREGULAR) if alike else replace(found, jumps=kept)


def _wrapped(stride: Poly, repeat: Poly, step: Poly) -> Poly | None:
    """The modulus where the jump takes back exactly what the steps before it added."""
    return repeat if (stride * repeat + step) == ZERO else None


def _finest(n: Normalizer, repeats: list[tuple[Poly, Poly, Poly | None]], jumps: list[Jump]) -> Steps:
    """Only repeats: the finest one is the step, the coarser ones are jumps."""
    best = repeats[0]
    for other in repeats[1:]:
        if smaller(n, other[0], best[0]):
            best = other
    for repeat, step, _ in repeats:
        if repeat == best[0] and step is not best[1]:
            return unknown(Reason.IRREGULAR)
        if repeat != best[0] and not smaller(n, best[0], repeat):
            return unknown(Reason.IRREGULAR)
    if any(j.period == best[0] or smaller(n, j.period, best[0]) for j in jumps):
        return unknown(Reason.IRREGULAR)  # a jump of another size may hide each of the steps
    for repeat, step, shift in repeats:
        if repeat != best[0]:
            per = exact_quotient(repeat, best[0])
            wrap = _wrapped(best[1], per, step) if per is not None else None
            jumps.append(Jump(repeat, wrap, shift))
    return _jumping(Steps("regular", best[1], best[0], shift=best[2]), jumps)


def smaller(n: Normalizer, a: Poly, b: Poly) -> bool:
    """True where a < b is sure: by value, or as a proper divisor."""
    if a == b:
        return False
    if a.constant is not None and b.constant is not None:
        return a.constant < b.constant
    return exact_quotient(b, a) is not None or ranges.nonneg(n.algebra, b - a)


def merged(jumps: Iterable[Jump]) -> tuple[Jump, ...]:
    """The jumps without those that surely fall on another one of the same period.

    Where several causes meet, a wrap is no wrap any more: the rows that it separates are apart.
    """
    out: list[Jump] = []
    for j in jumps:
        same = next((k for k, o in enumerate(out) if j.period == o.period and j.falls_on(o)), None)
        if same is None:
            out.append(j)
        else:
            out[same] = replace(out[same], wrap=None)
    return tuple(out)
