"""The offset algebra of one kernel: its atoms, their simplification, and substitution in terms.

Runtime integers of a kernel (sizes, strides) are taken to be positive.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from coalesce_lint.index.atoms import FREE
from coalesce_lint.index.comparison import Comparison
from coalesce_lint.index.division import Division
from coalesce_lint.index.poly import ZERO, Atom, Poly, map_atoms, of_atom


class Algebra(Division, Comparison):
    """All of the algebra. Substituting an atom simplifies anew every term that holds it."""

    def __init__(self) -> None:
        super().__init__()
        self._renamed: dict[Hashable, Poly] = {}

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
        self.burn(40)
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
                axes = tuple(moved.get(x, x) for x in a.args)
                image[a] = of_atom(self._free_like(a, axes, origin=(a, self.move_axes, moved)))
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
                origin = (a, self.replace_lanes, image)
                leaves[a] = of_atom(self._free_like(a, tuple(sorted(axes)), (a.attr, sign), origin))
        return self.rebuild(p, leaves)

    def _free_like(
        self, a: Atom, axes: tuple[int, ...], attr: Hashable = None, origin: tuple[Any, ...] = ()
    ) -> Atom:
        return self.free(
            a.kind,
            attr or a.attr,
            axes,
            data=a.data,
            walks=a.walks,
            loops=a.loops,
            reason=a.reason,
            nonneg=a.nonneg,
            origin=origin if a.origin else (),
        )

    def inputs(self, a: Atom) -> tuple[Poly, ...]:
        """What a loaded value was computed from lane by lane, in its axes; () where that is not known."""
        if a.origin and isinstance(a.origin[0], Atom):
            source, change, image = a.origin
            a.origin = tuple(change(p, image) for p in self.inputs(source))
        return a.origin

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
