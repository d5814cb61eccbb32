"""Signs and upper bounds of polynomials, enough to simplify divisions and comparisons.

The bounds rest on: lanes lie in [0, extent), program ids and loop counters are not negative, a digit
``x % c`` lies in [0, c). A proof that fails says nothing.
"""

from __future__ import annotations

from coalesce_lint.index.atoms import Atoms
from coalesce_lint.index.poly import ONE, Atom, Poly, exact_quotient, monomial_quotient, of_atom

_DEPTH = 6
#: Bounds that are remembered at a time; each keeps its polynomials alive.
_REMEMBERED = 20_000


def _monomial_nonneg(m: tuple[Atom, ...]) -> bool:
    for a in m:  # noqa: SIM110  a generator takes twice the time
        if not a.nonneg and m.count(a) % 2:
            return False
    return True


def nonneg(algebra: Atoms, p: Poly, depth: int = _DEPTH) -> bool:
    """True where p >= 0 is proved. Raises TooLarge when the fuel of the current access is spent."""
    known = algebra.signs.get(p)
    if known is None:
        algebra.burn(1 + len(p.terms))
        known = _nonneg(algebra, p, depth)
        if known or depth == _DEPTH:
            algebra.signs[p] = known
    return known


def _nonneg(algebra: Atoms, p: Poly, depth: int) -> bool:
    negative = None
    for m, c in p.terms.items():
        if not _monomial_nonneg(m):
            return False
        if c < 0 and negative is None:
            negative = (m, c)
    if negative is None:
        return True
    if depth == 0 or len(p.terms) > 40:
        return False
    # a digit x - c*(x//c) is not negative: take it out where p holds a multiple of it
    for m, c in p.terms.items():
        if c >= 0:
            continue
        for a in m:
            for digit, _ in algebra.digits.get(a, ()):
                algebra.burn(len(digit.terms))
                rest = _without(p, digit, m, c)
                if rest is not None and nonneg(algebra, rest, depth - 1):
                    return True
    # parameters and extents are at least 1: n*X - X >= 0
    return _by_positive_factors(p)


def _without(p: Poly, part: Poly, m: tuple[Atom, ...], c: int) -> Poly | None:
    """p minus the least multiple k*part (k >= 0) that leaves nothing negative of the term c*m, or None."""
    for pm, pc in part.terms.items():
        if pc < 0 and len(pm) <= len(m):
            k = monomial_quotient(m, pm)
            if k is not None and _monomial_nonneg(k):
                return p - Poly({k: -(c // -pc)}) * part
    return None


def _by_positive_factors(p: Poly) -> bool:
    """Each negative term -c*m is outweighed by a positive term that has m's factors and else factors >= 1."""
    positive = {m: c for m, c in p.terms.items() if c > 0}
    for m, c in p.terms.items():
        if c > 0:
            continue
        need = -c
        for pm in list(positive):
            rest = list(pm)
            try:
                for a in m:
                    rest.remove(a)
            except ValueError:
                continue
            if all(at_least_one(a) for a in rest):
                take = min(need, positive[pm])
                positive[pm] -= take
                need -= take
                if not positive[pm]:
                    del positive[pm]
                if not need:
                    break
        if need:
            return False
    return True


def at_least_one(a: Atom) -> bool:
    """Parameters (sizes, strides, constexprs) are taken to be positive."""
    return a.kind in ("param", "npid") and a.nonneg


def upper(algebra: Atoms, p: Poly, depth: int = _DEPTH) -> Poly | None:
    """A polynomial without lanes that p never exceeds, or None where none is known."""
    if depth == 0 or len(p.terms) > 40:
        return None
    key = (p, depth)
    if key not in algebra.bounds:
        if len(algebra.bounds) > _REMEMBERED:
            algebra.bounds.clear()
        algebra.burn(1 + len(p.terms))
        algebra.bounds[key] = _upper(algebra, p, depth)
    return algebra.bounds[key]


def _upper(algebra: Atoms, p: Poly, depth: int) -> Poly | None:
    for m, c in p.terms.items():
        if c >= 0:
            continue
        for a in m:
            for digit, modulus in algebra.digits.get(a, ()):
                algebra.burn(len(digit.terms))
                rest = _without(p, digit, m, c)
                if rest is not None:
                    k = exact_quotient(p - rest, digit)
                    bound = upper(algebra, rest, depth - 1)
                    if k is not None and bound is not None:
                        return bound + k * (modulus - ONE)
    out = Poly({})
    for m, c in p.terms.items():
        bounded = [a for a in m if a.kind in ("lane", "div", "cmp", "extreme", "select")]
        if not bounded:
            if c < 0 and not _monomial_nonneg(m):
                return None
            out = out + Poly({m: c})
            continue
        if not _monomial_nonneg(m):
            return None
        if c < 0:
            continue  # the least value of the term is 0 at the most favourable lane
        term = Poly({(): c})
        for a in m:
            bound = _atom_upper(algebra, a, depth) if a in bounded else of_atom(a)
            if bound is None:
                return None
            term = term * bound
        out = out + term
    return out


def _atom_upper(algebra: Atoms, a: Atom, depth: int) -> Poly | None:
    if a.kind == "lane":
        return a.args[0] - ONE
    if a.kind == "cmp":
        return ONE
    if a.kind == "extreme":
        first, second = (upper(algebra, x, depth - 1) for x in a.args)
        if a.attr == "min":
            return first if first is not None else second
        return None
    if a.kind == "div" and a.attr == "floor":
        top = upper(algebra, a.args[0], depth - 1)
        if top is None:
            return None
        whole = exact_quotient(top, a.args[1])
        if whole is not None:
            return whole
        above = exact_quotient(top + ONE, a.args[1])
        return above - ONE if above is not None else top
    return None
