"""Sparse integer polynomials over atoms: the normal form of every address.

sympy's own expressions cost 10 to 100 microseconds an operation, which is too slow for the hundred thousand
operations of a repository; polynomials as dictionaries cost about one. sympy takes over where a result is
shown (``render.py``).

A monomial is a tuple of atoms sorted by their number, repeated for powers; () is the constant one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from coalesce_lint.reasons import Why

#: Polynomials with more terms, a higher degree or larger coefficients than this become opaque values
#: ("expression too large"). Offsets have 64 bits.
MAX_TERMS = 200
MAX_DEGREE = 12
MAX_COEFFICIENT = 1 << 256


class TooLarge(Exception):
    """A normal form grew past MAX_TERMS, MAX_DEGREE or MAX_COEFFICIENT."""


class Atom:
    """An indivisible factor: a symbol, or a compound term such as a floor division.

    ``lanes`` are the tile axes on which it depends, ``loops`` the loops in which it changes.
    ``data`` says that it depends on loaded values, ``wild`` on which axes it does so lane by lane, ``walks``
    that it is made of program ids and loop variables. ``origin`` is what a loaded value was computed
    from: the polynomials of its inputs, or the atom of which it is a copy in other axes, how it was copied,
    and the images of those axes.
    """

    __slots__ = (
        "args",
        "attr",
        "data",
        "kind",
        "lanes",
        "loops",
        "nonneg",
        "number",
        "origin",
        "reason",
        "walks",
        "wild",
    )

    def __init__(self, kind: str, attr: Any, args: tuple[Any, ...], number: int) -> None:
        self.kind = kind
        self.attr = attr
        self.args = args
        self.number = number
        self.lanes: frozenset[int] = frozenset()
        self.loops: frozenset[Any] = frozenset()
        self.data = False
        self.walks = False
        self.wild: frozenset[int] = frozenset()
        self.nonneg = False
        self.reason: Why | None = None
        self.origin: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        return f"{self.kind}{self.number}:{self.attr}{list(self.args) if self.args else ''}"

    def __lt__(self, other: Atom) -> bool:
        return self.number < other.number


Monomial = tuple[Atom, ...]


def _atom_number(atom: Atom) -> int:
    return atom.number


def monomial_product(a: Monomial, b: Monomial) -> Monomial:
    if not a:
        return b
    if not b:
        return a
    if len(a) + len(b) > MAX_DEGREE:
        raise TooLarge
    return tuple(sorted(a + b, key=_atom_number))


def monomial_quotient(a: Monomial, b: Monomial) -> Monomial | None:
    """a / b, or None where b does not divide a."""
    if not b:
        return a
    rest = list(a)
    for atom in b:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


class Poly:
    """An integer polynomial. Immutable; equal polynomials have equal keys."""

    __slots__ = ("_atoms", "_key", "terms")

    def __init__(self, terms: dict[Monomial, int]) -> None:
        self.terms = terms
        self._key: frozenset[tuple[Monomial, int]] | None = None
        self._atoms: tuple[Atom, ...] | None = None

    @property
    def key(self) -> frozenset[tuple[Monomial, int]]:
        if self._key is None:
            self._key = frozenset(self.terms.items())
        return self._key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Poly) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return " + ".join("*".join([str(c), *map(repr, m)]) for m, c in self.terms.items()) or "0"

    def __add__(self, other: Poly) -> Poly:
        if not other.terms:
            return self
        if not self.terms:
            return other
        a, b = self.terms, other.terms
        if len(a) < len(b):
            a, b = b, a
        out = dict(a)
        for m, c in b.items():
            c += out.get(m, 0)
            if c:
                out[m] = c
            else:
                del out[m]
        if len(out) > MAX_TERMS:
            raise TooLarge
        return Poly(out)

    def __neg__(self) -> Poly:
        return Poly({m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Poly) -> Poly:
        return self + (-other)

    def __mul__(self, other: Poly) -> Poly:
        if len(self.terms) * len(other.terms) > 4 * MAX_TERMS:
            raise TooLarge
        out: dict[Monomial, int] = {}
        for ma, ca in self.terms.items():
            for mb, cb in other.terms.items():
                m = monomial_product(ma, mb)
                c = out.get(m, 0) + ca * cb
                if not -MAX_COEFFICIENT <= c <= MAX_COEFFICIENT:
                    raise TooLarge
                if c:
                    out[m] = c
                else:
                    del out[m]
        if len(out) > MAX_TERMS:
            raise TooLarge
        return Poly(out)

    def scale(self, factor: int) -> Poly:
        if factor == 1:
            return self
        out = {m: c * factor for m, c in self.terms.items()} if factor else {}
        if any(not -MAX_COEFFICIENT <= c <= MAX_COEFFICIENT for c in out.values()):
            raise TooLarge
        return Poly(out)

    @property
    def constant(self) -> int | None:
        """The value where the polynomial is a number, else None."""
        if not self.terms:
            return 0
        if len(self.terms) == 1:
            return self.terms.get(())
        return None

    def atoms(self) -> tuple[Atom, ...]:
        """The atoms of the polynomial, those inside compound atoms not included."""
        if self._atoms is None:
            self._atoms = tuple(dict.fromkeys(a for m in self.terms for a in m))
        return self._atoms

    @property
    def lanes(self) -> frozenset[int]:
        found: frozenset[int] = frozenset()
        for a in self.atoms():
            if a.lanes:
                found = found | a.lanes
        return found

    def single(self) -> tuple[Monomial, int] | None:
        """The monomial and its coefficient where there is exactly one term."""
        if len(self.terms) == 1:
            return next(iter(self.terms.items()))
        return None

    def single_atom(self) -> Atom | None:
        """The atom where the polynomial is just one atom."""
        one = self.single()
        return one[0][0] if one and one[1] == 1 and len(one[0]) == 1 else None


ZERO = Poly({})
ONE = Poly({(): 1})


def number(value: int) -> Poly:
    return Poly({(): value}) if value else ZERO


def of_atom(atom: Atom) -> Poly:
    return Poly({(atom,): 1})


def total(parts: Iterable[Poly]) -> Poly:
    out = ZERO
    for p in parts:
        out = out + p
    return out


def divide(p: Poly, c: Poly) -> tuple[Poly, Poly]:
    """(q, r) with p = q * c + r, taking out of p what is divisible by c term by term.

    For a c of several terms only multiples of the whole of c are taken out, found by its leading term.
    """
    lead, k = _leading(c)
    if len(c.terms) == 1:
        quotient: dict[Monomial, int] = {}
        rest: dict[Monomial, int] = {}
        for m, v in p.terms.items():
            mq = monomial_quotient(m, lead)
            if mq is None:
                rest[m] = v
                continue
            q, r = divmod(v, k)
            if q:
                quotient[mq] = q
            if r:
                rest[m] = r
        return Poly(quotient), Poly(rest)
    q_total, rest_poly = ZERO, p
    for _ in range(8):
        for m, v in rest_poly.terms.items():
            mq = monomial_quotient(m, lead)
            if mq is not None and v % k == 0:
                q_term = Poly({mq: v // k})
                candidate = rest_poly - q_term * c
                if len(candidate.terms) < len(rest_poly.terms):
                    q_total, rest_poly = q_total + q_term, candidate
                    break
        else:
            break
    return q_total, rest_poly


def exact_quotient(p: Poly, c: Poly) -> Poly | None:
    """p / c where the division leaves no rest, else None."""
    if not c.terms:
        return None
    q, r = divide(p, c)
    return q if not r.terms else None


def _leading(c: Poly) -> tuple[Monomial, int]:
    return max(c.terms.items(), key=lambda t: (len(t[0]), tuple(a.number for a in t[0])))


def map_atoms(p: Poly, image: Callable[[Atom], Poly | None]) -> Poly:
    """p with every atom replaced by its image; None leaves an atom as it is."""
    images: dict[Atom, Poly] = {}
    for a in p.atoms():
        b = image(a)
        if b is not None and b.terms != {(a,): 1}:
            images[a] = b
    if not images:
        return p
    kept: dict[Monomial, int] = {}
    changed: list[Poly] = []
    for m, c in p.terms.items():
        if not any(a in images for a in m):
            kept[m] = c
            continue
        term = number(c)
        for a in m:
            term = term * (images[a] if a in images else of_atom(a))
        changed.append(term)
    return total([Poly(kept), *changed])
