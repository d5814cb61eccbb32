"""Comparison, choice, minimum and maximum in the offset algebra, decided where bounds prove them."""

from __future__ import annotations

from collections.abc import Hashable

from coalesce_lint.index import ranges
from coalesce_lint.index.atoms import Atoms
from coalesce_lint.index.poly import ONE, ZERO, Atom, Poly, number, of_atom


class Comparison(Atoms):
    """Conditions as terms that are 0 or 1, and what is chosen by them."""

    def less(self, a: Poly, b: Poly) -> Poly:
        """1 where a < b, else 0."""
        d = b - a
        if d.constant is not None:
            return number(int(d.constant > 0))
        if ranges.nonneg(self, d - ONE):
            return ONE
        if ranges.nonneg(self, -d):
            return ZERO
        return of_atom(self._boolean("less", (a, b)))

    def equal(self, a: Poly, b: Poly) -> Poly:
        """1 where a == b, else 0."""
        d = a - b
        if d.constant is not None:
            return number(int(d.constant == 0))
        if (-d).key < d.key or min(d.terms.values()) == -max(d.terms.values()):
            flip = sorted((tuple(x.number for x in m), v) for m, v in d.terms.items())
            if flip and flip[0][1] < 0:
                d = -d
        elif sum(d.terms.values()) < 0:
            d = -d
        return of_atom(self._boolean("equal", (d,)))

    def _boolean(self, attr: str, args: tuple[Poly, ...]) -> Atom:
        atom = self._compound("cmp", attr, args)
        atom.nonneg = True
        return atom

    def choose(self, cond: Poly | None, key: Hashable, a: Poly, b: Poly) -> Poly:
        """a where ``cond`` is 1, b where it is 0. A None condition is known by its ``key`` only."""
        if a == b:
            return a
        if cond is not None and cond.constant is not None:
            return a if cond.constant else b
        shared = Poly({m: v for m, v in a.terms.items() if b.terms.get(m) == v})
        a, b = a - shared, b - shared
        if cond is not None:
            key = None
        atom = self._compound("select", key, (cond, a, b))
        atom.nonneg = ranges.nonneg(self, a) and ranges.nonneg(self, b)
        return shared + of_atom(atom)

    def extreme(self, op: str, a: Poly, b: Poly) -> Poly:
        """min(a, b) or max(a, b)."""
        if a == b:
            return a
        d = b - a
        if d.constant is not None:
            return a if (d.constant >= 0) == (op == "min") else b
        if ranges.nonneg(self, d):
            return a if op == "min" else b
        if ranges.nonneg(self, -d):
            return b if op == "min" else a
        atom = self._compound("extreme", op, (a, b))
        low = (ranges.nonneg(self, a), ranges.nonneg(self, b))
        atom.nonneg = any(low) if op == "max" else all(low)
        return of_atom(atom)
