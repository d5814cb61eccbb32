"""An offset as summands: which parameters and indices each product in it is made of."""

from __future__ import annotations

from coalesce_lint.access import Summand
from coalesce_lint.index.poly import Atom, Poly
from coalesce_lint.index.terms import Algebra

#: What an index is made of, by the kind of its leaves.
_INDICES = {
    "lane": "lane",
    "pid": "pid",
    "npid": "pid",
    "loopvar": "loop",
    "iter": "loop",
    "load": "loaded",
    "data": "loaded",
}


def summands_of(algebra: Algebra, offset: Poly) -> tuple[Summand, ...]:
    """The summands of ``offset``, each once."""
    return tuple(_summand(algebra, m, c) for m, c in offset.terms.items())


def _summand(algebra: Algebra, factors: tuple[Atom, ...], number: int) -> Summand:
    parameters: list[str] = []
    constexprs: list[str] = []
    axes: frozenset[int] = frozenset()
    kinds: set[str] = set()
    inner: set[str] = set()
    for atom in factors:
        axes = axes | atom.lanes
        if atom.kind == "param":
            (constexprs if atom.attr.constexpr else parameters).append(atom.attr.name)
            continue
        for leaf in algebra.leaves(Poly({(atom,): 1})):
            if leaf.kind == "param":
                inner.add(leaf.attr.name)
            else:
                kinds.add(_INDICES.get(leaf.kind, "other"))
    return Summand(number, tuple(parameters), tuple(constexprs), axes, frozenset(kinds), frozenset(inner))
