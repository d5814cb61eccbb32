"""The last resort for steps that no rule explains: the offset is evaluated at the first lanes, one by one.

Swaps of neighbours (``where(i % 2 == 0, i + 1, i - 1)``), bit patterns and uneven divisions become plain
differences. Symbols may stay in the offset as long as every difference is a number, or a number times one
common stride.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

from coalesce_lint.index import steps
from coalesce_lint.index.normalize import Normalizer
from coalesce_lint.index.poly import Atom, Poly, exact_quotient, number, of_atom

#: Two warps: a pattern must show more than once.
LANES = 64


def evaluated(n: Normalizer, offset: Poly, axis: int, extent: Poly) -> steps.Steps | None:
    """The steps along ``axis`` from the values at so many lanes, or None where they stay symbolic."""
    leaves = n.algebra.leaves(offset)
    lanes = [a for a in leaves if a.kind == "lane" and a.attr == axis]
    if not lanes or any(axis in a.wild or (axis in a.lanes and a.kind != "lane") for a in leaves):
        return None
    count = min(extent.constant or LANES, LANES)
    aligned = _aligned_blocks(n, offset)
    if _splits_by(offset, set(aligned)):
        return None
    # Where there are more lanes, any other LANES of them must have the same differences.
    window = of_atom(n.algebra.leaf("param", ("window of lanes", axis), nonneg=True)).scale(LANES)
    starts = [number(0)] if extent.constant == count else [number(0), window]
    seen = []
    for start in starts:
        images: list[dict[Atom, Poly]] = [{a: start + number(k) for a in lanes} for k in range(count)]
        values = [n.algebra.rebuild(offset, {**aligned, **image}) for image in images]
        seen.append([b - a for a, b in pairwise(values)])
    differences = seen[0]
    if any(other != differences for other in seen):
        return None
    back = {next(iter(p.atoms())): of_atom(a) for a, p in aligned.items()}
    unit, factors = _common_factor(differences)
    if factors is None or unit is None:
        return None
    if any(a in back or a in window.atoms() for a in unit.atoms()):
        return None
    found = _pattern(factors, unit)
    if found is not None and extent.constant != count:
        # the step from one of these windows to the next was not looked at
        found = replace(found, jumps=(*found.jumps, steps.Jump(number(LANES))))
    return found


def _aligned_blocks(n: Normalizer, offset: Poly) -> dict[Atom, Poly]:
    """Block sizes written as multiples of LANES: a tile's extent is a power of two, and what starts at a
    multiple of a smaller one only has fewer breaks.
    """
    out: dict[Atom, Poly] = {}
    extents = {a for leaf in n.algebra.leaves(offset) if leaf.kind == "lane" for a in leaf.args[0].atoms()}
    for a in extents:
        if a.kind == "param":
            out[a] = of_atom(n.algebra.leaf("param", (a.attr, "blocks"), nonneg=True)).scale(LANES)
    return out


def _splits_by(p: Poly, blocks: set[Atom], seen: set[Atom] | None = None) -> bool:
    """True where an index is divided by a block size: its value then decides where the breaks are."""
    seen = set() if seen is None else seen
    for a in p.atoms():
        if a in seen or a.kind == "lane":
            continue
        seen.add(a)
        if a.kind == "div" and a.lanes and any(b in blocks for b in a.args[1].atoms()):
            return True
        if any(_splits_by(x, blocks, seen) for x in a.args if isinstance(x, Poly)):
            return True
    return False


def _common_factor(differences: list[Poly]) -> tuple[Poly | None, list[int] | None]:
    """(u, [c0, c1, ...]) with differences[k] = ck * u, or (None, None)."""
    first = next((d for d in differences if d.terms), None)
    if first is None:
        return None, None
    one = first.single()
    if one is None or any(a.kind != "param" for a in one[0]):
        return None, None
    unit = Poly({one[0]: 1})
    factors = []
    for d in differences:
        q = exact_quotient(d, unit)
        if q is None or q.constant is None:
            return None, None
        factors.append(q.constant)
    return unit, factors


def _pattern(factors: list[int], unit: Poly) -> steps.Steps | None:
    """One step, a step with repeats, or a step in runs; None where there is no rule."""
    counts = Counter(factors)
    moving = [f for f in counts if f]
    if len(moving) == 1 and 0 in counts:
        repeat = _even_gap([k for k, f in enumerate(factors) if f], len(factors))
        return None if repeat is None else steps.Steps("regular", unit.scale(moving[0]), number(repeat))
    common, times = counts.most_common(1)[0]
    if len(counts) == 1:
        return steps.Steps("regular", unit.scale(common))
    if common == 0 or times * 2 < len(factors):
        return None
    breaks = [k for k, f in enumerate(factors) if f != common]
    runs = [b - a for a, b in zip([-1, *breaks], [*breaks, len(factors)], strict=True)]
    inner = runs[1:-1] or runs
    if min(inner) < (2 if abs(common) == 1 else 4):
        return None
    return steps.Steps("regular", unit.scale(common), jumps=(steps.Jump(number(min(inner))),))


def _even_gap(places: list[int], count: int) -> int | None:
    """The number of lanes between the moves at ``places`` of ``count`` steps; None where it is not even.

    The first and the last group of lanes may be cut off; two whole groups must be seen.
    """
    gaps = {b - a for a, b in pairwise(places)}
    if len(gaps) != 1:
        return None
    (gap,) = gaps
    return gap if places[0] < gap and count - places[-1] <= gap else None
