"""The atoms of the offset algebra: one object for each term of a kernel, and the fuel of proofs."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from coalesce_lint.index.poly import Atom, Poly, TooLarge

#: Kinds of atoms whose value on lanes is arbitrary: they keep the axes they vary on in ``args``.
FREE = frozenset({"load", "data", "opaque", "carried"})
#: Elementary proof steps that one access may take (about a second).
FUEL = 200_000


class Atoms:
    """Makes and remembers the atoms of one kernel, so that equal terms are the same object."""

    def __init__(self) -> None:
        self._atoms: dict[Hashable, Atom] = {}
        self.digits: dict[Atom, list[tuple[Poly, Poly]]] = {}
        self.signs: dict[Poly, bool] = {}
        self.bounds: dict[tuple[Poly, int], Poly | None] = {}
        self.fuel = FUEL

    def burn(self, amount: int) -> None:
        """Spends fuel; raises TooLarge when none is left, so that no expression takes more than its share of
        time.
        """
        self.fuel -= amount
        if self.fuel < 0:
            raise TooLarge

    def refuel(self) -> None:
        """A new access gets a full tank."""
        self.fuel = FUEL

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
