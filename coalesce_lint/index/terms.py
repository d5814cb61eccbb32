"""Atoms of the offset algebra and the simplification of floor division, modulo, comparison and choice.

Triton's ``//`` on tensors truncates and its ``%`` follows it, Python's (and sympy's) round down. Both agree where the
dividend is not negative, so a division keeps its mode ("trunc" or "floor") until that is proved. ``x % c`` is written
``x - c*(x // c)``, an identity in both modes, so that splits of an index cancel by themselves when they are put
together again. Runtime integers of a kernel (sizes, strides) are taken to be positive.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from coalesce_lint.index import ranges
from coalesce_lint.index.poly import (
    ONE,
    ZERO,
    Atom,
    Poly,
    TooLarge,
    divide,
    exact_quotient,
    map_atoms,
    number,
    of_atom,
)

#: Kinds of atoms whose value on lanes is arbitrary: they keep the axes they vary on in ``args``.
FREE = frozenset({"load", "data", "opaque", "carried"})


#: Elementary proof steps that one access may take (about a second).
FUEL = 200_000


class Algebra:
    """Makes and remembers the atoms of one kernel, so that equal terms are the same object."""

    def __init__(self) -> None:
        self._atoms: dict[Hashable, Atom] = {}
        self.digits: dict[Atom, list[tuple[Poly, Poly]]] = {}
        self.signs: dict[Poly, bool] = {}
        self.fuel = FUEL
        self._renamed: dict[Hashable, Poly] = {}

    def burn(self, amount: int) -> None:
        """Spends fuel; raises TooLarge when none is left, so that no expression takes more than its share of time."""
        self.fuel -= amount
        if self.fuel < 0:
            raise TooLarge

    def refuel(self) -> None:
        """A new access gets a full tank."""
        self.fuel = FUEL

    # -- leaves ----------------------------------------------------------------------------------------------------

    def leaf(self, kind: str, attr: Hashable, **facts: Any) -> Atom:
        """The leaf atom of this kind; ``facts`` set its attributes when it is made."""
        key = (kind, attr)
        atom = self._atoms.get(key)
        if atom is None:
            atom = self._new(key, kind, attr, ())
            for name, value in facts.items():
                setattr(atom, name, value)
        return atom

    def lane(self, axis: int, extent: Poly) -> Atom:
        """The index along a tile axis: 0 <= lane < extent. ``args`` is (extent,)."""
        key = ("lane", axis, extent)
        atom = self._atoms.get(key)
        if atom is None:
            atom = self._new(key, "lane", axis, (extent,))
            atom.lanes, atom.nonneg = frozenset((axis,)), True
        return atom

    def free(self, kind: str, attr: Hashable, axes: tuple[int, ...], **facts: Any) -> Atom:
        """A value that may differ from lane to lane along ``axes`` in any way."""
        key = (kind, attr, axes)
        atom = self._atoms.get(key)
        if atom is None:
            atom = self._new(key, kind, attr, axes)
            atom.lanes = frozenset(axes)
            for name, value in facts.items():
                setattr(atom, name, value)
            if atom.data:
                atom.wild = atom.lanes
        return atom

    def _new(self, key: Hashable, kind: str, attr: Any, args: tuple[Any, ...]) -> Atom:
        atom = Atom(kind, attr, args, len(self._atoms))
        self._atoms[key] = atom
        return atom

    def _compound(self, kind: str, attr: Any, args: tuple[Poly | None, ...]) -> Atom:
        key = (kind, attr, args)
        atom = self._atoms.get(key)
        if atom is None:
            atom = self._new(key, kind, attr, args)
            inner = [a for p in args if p is not None for a in p.atoms()]
            for a in inner:
                atom.lanes = atom.lanes | a.lanes
                atom.loops = atom.loops | a.loops
                atom.data = atom.data or a.data
                atom.wild = atom.wild | a.wild
                atom.reason = atom.reason or a.reason
            atom.walks = any(a.walks for a in inner) and not atom.data
        return atom

    # -- division --------------------------------------------------------------------------------------------------

    def div(self, x: Poly, c: Poly, mode: str) -> Poly:
        """x // c. ``mode`` is "trunc" for tensors and runtime scalars, "floor" for Python integers."""
        k = c.constant
        if k == 1:
            return x
        if k == -1:
            return -x
        if k == 0:
            return of_atom(self.leaf("opaque", ("division by zero", x), reason="division by zero"))
        n = x.constant
        if n is not None and k is not None:
            size = abs(n) // abs(k)
            same = (n >= 0) == (k > 0)
            return number((size if same else -size) if mode == "trunc" else n // k)
        if not x.terms:
            return ZERO
        whole = exact_quotient(x, c)
        if whole is not None:
            return whole
        positive = k > 0 if k is not None else ranges.nonneg(self, c)
        if not positive:
            return of_atom(self._compound("div", mode, (x, c)))
        if mode == "trunc" and ranges.nonneg(self, x):
            mode = "floor"
        if mode == "floor":
            q, r = divide(x, c)
            # floor((q*c + r) / c) = q + floor(r / c); r is kept free of multiples of c
            if q.terms:
                return q + self.div(r, c, mode)
            r_low, r_high = ranges.nonneg(self, r), ranges.upper(self, r)
            if r_low and r_high is not None and ranges.nonneg(self, c - ONE - r_high):
                return ZERO
        return self._div_atom(x, c, mode)

    def _div_atom(self, x: Poly, c: Poly, mode: str) -> Poly:
        x, c = self._merge_nested(x, c, mode)
        x, c = self._cancel_common(x, c, mode)
        if c.constant == 1:
            return x
        atom = self._compound("div", mode, (x, c))
        if mode == "floor" and not atom.nonneg:
            atom.nonneg = ranges.nonneg(self, x)
        if mode == "floor" and atom not in self.digits:
            self.digits[atom] = [(x - c * of_atom(atom), c)] if ranges.nonneg(self, x) else []
        return of_atom(atom)

    def _merge_nested(self, x: Poly, c: Poly, mode: str) -> tuple[Poly, Poly]:
        """(x // a + b) // c = (x + a*b) // (a*c): floor always, trunc where b = 0."""
        inner = [(m, v) for m, v in x.terms.items() if len(m) == 1 and m[0].kind == "div" and v == 1]
        if len(inner) != 1:
            return x, c
        atom = inner[0][0][0]
        rest = x - of_atom(atom)
        y, a = atom.args
        if atom.attr != mode or (rest.terms and mode != "floor"):
            return x, c
        if any(b.lanes for b in rest.atoms()):
            return x, c
        if not ranges.nonneg(self, a):
            return x, c
        return self._merge_nested(y + a * rest, a * c, mode)

    def _cancel_common(self, x: Poly, c: Poly, mode: str) -> tuple[Poly, Poly]:
        """(g*y + r) // (g*d) = (y + r//g) // d where 0 <= r < g, g a number."""
        one = c.single()
        if one is None or abs(one[1]) == 1:
            return x, c
        k = one[1]
        best = 1
        for g in _divisors(k):
            q = Poly({m: v // g for m, v in x.terms.items() if v % g == 0})
            r = Poly({m: v for m, v in x.terms.items() if v % g})
            if not q.terms or g <= best:
                continue
            if not r.terms:
                best = g
                continue
            high = ranges.upper(self, r)
            if (
                mode == "floor"
                and ranges.nonneg(self, r)
                and high is not None
                and ranges.nonneg(self, number(g - 1) - high)
            ):
                best = g
        if best == 1:
            return x, c
        q = Poly({m: v // best for m, v in x.terms.items() if v % best == 0})
        return q, Poly({one[0]: k // best})

    def mod(self, x: Poly, c: Poly, mode: str) -> Poly:
        """x % c = x - c*(x // c), remembered as a digit 0 <= digit < c where that holds."""
        q = self.div(x, c, mode)
        out = x - c * q
        if (mode == "floor" or ranges.nonneg(self, x)) and ranges.nonneg(self, c):
            for m, v in out.terms.items():
                for a in m if v < 0 else ():
                    known = self.digits.setdefault(a, []) if a.kind == "div" else None
                    if known is not None and (out, c) not in known and len(known) < 6:
                        known.append((out, c))
        return out

    # -- comparison and choice -------------------------------------------------------------------------------------

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

    # -- substitution ----------------------------------------------------------------------------------------------

    def rebuild(self, p: Poly, image: Mapping[Atom, Poly], memo: dict[Atom, Poly] | None = None) -> Poly:
        """p with atoms replaced everywhere, also inside compound atoms, which are simplified anew."""
        memo = {} if memo is None else memo

        def of(atom: Atom) -> Poly | None:
            if atom in image:
                return image[atom]
            if not any(isinstance(x, Poly) for x in atom.args) or atom.kind == "lane":
                return None
            if atom not in memo:
                memo[atom] = self._remake(
                    atom, tuple(None if x is None else self.rebuild(x, image, memo) for x in atom.args)
                )
            return memo[atom]

        return map_atoms(p, of)

    def _remake(self, atom: Atom, args: tuple[Any, ...]) -> Poly:
        if args == atom.args:
            return of_atom(atom)
        if atom.kind == "div":
            return self.div(args[0], args[1], atom.attr)
        if atom.kind == "cmp":
            return self.less(*args) if atom.attr == "less" else self.equal(args[0], ZERO)
        if atom.kind == "select":
            return self.choose(args[0], atom.attr, args[1], args[2])
        if atom.kind == "extreme":
            return self.extreme(atom.attr, args[0], args[1])
        return of_atom(self._compound(atom.kind, atom.attr, args))

    def move_axes(self, p: Poly, moved: Mapping[int, int]) -> Poly:
        """p with tile axis k renamed to moved[k]."""
        if not p.lanes or all(a == b for a, b in moved.items()):
            return p
        key = (p, tuple(sorted(moved.items())))
        out = self._renamed.get(key)
        if out is None:
            out = self._renamed[key] = self.rebuild(p, self._moved_leaves(p, moved))
        return out

    def _moved_leaves(self, p: Poly, moved: Mapping[int, int]) -> dict[Atom, Poly]:
        image: dict[Atom, Poly] = {}
        for a in self.leaves(p):
            if a.kind == "lane":
                image[a] = of_atom(self.lane(moved.get(a.attr, a.attr), a.args[0]))
            elif a.kind in FREE and a.lanes:
                image[a] = of_atom(self._free_like(a, tuple(moved.get(x, x) for x in a.args)))
        return image

    def replace_lanes(self, p: Poly, image: Mapping[int, Poly]) -> Poly:
        """p with the index along axis k replaced by image[k] (a reshape, a flip).

        Values that are arbitrary along a replaced axis stay arbitrary along all axes of its image.
        """
        leaves: dict[Atom, Poly] = {}
        for a in self.leaves(p):
            if a.kind == "lane":
                leaves[a] = image.get(a.attr, of_atom(a))
            elif a.kind in FREE and a.lanes:
                known = [x for x in a.args if x in image]
                axes = frozenset(x for x in a.args if x not in image).union(*(image[x].lanes for x in known))
                sign = tuple(image[x] for x in known)
                leaves[a] = of_atom(self._free_like(a, tuple(sorted(axes)), (a.attr, sign)))
        return self.rebuild(p, leaves)

    def _free_like(self, a: Atom, axes: tuple[int, ...], attr: Hashable = None) -> Atom:
        return self.free(
            a.kind, attr or a.attr, axes, data=a.data, walks=a.walks, loops=a.loops, reason=a.reason, nonneg=a.nonneg
        )

    def leaves(self, p: Poly) -> list[Atom]:
        """Every atom without polynomials inside it on which p depends."""
        out: dict[Atom, None] = {}
        seen: set[Atom] = set()
        stack = list(p.atoms())
        while stack:
            a = stack.pop()
            if a in seen:
                continue
            seen.add(a)
            if a.kind in ("div", "cmp", "select", "extreme"):
                stack.extend(b for x in a.args if x is not None for b in x.atoms())
            else:
                out[a] = None
        return list(out)


def _divisors(k: int) -> list[int]:
    k = abs(k)
    out, d = [], 2
    while d <= k and d <= 4096:
        if k % d == 0:
            out.append(d)
        d += 1
    if k > 4096:
        out.append(k)
    return out
