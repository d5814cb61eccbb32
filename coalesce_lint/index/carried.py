"""Loop-carried values: ``p += step`` becomes ``start + iteration * step``.

A name that a loop changes is read as an unknown atom at the loop's head. Once the body is known, the atom is replaced:
by the start value plus the iteration count times the step where the step is the same in every iteration, by a choice
of start and end value where the body binds the name anew, by an arbitrary value otherwise.
"""

from __future__ import annotations

from coalesce_lint.index import ranges
from coalesce_lint.index.nodes import Node
from coalesce_lint.index.normalize import Normalizer
from coalesce_lint.index.poly import Atom, Poly, TooLarge, of_atom

REASON = "loop-carried value"


class Resolver:
    """Replaces the carried atoms of polynomials; remembers what each became."""

    def __init__(self, normalizer: Normalizer) -> None:
        self.n = normalizer
        self._known: dict[int, Poly] = {}
        self._active: set[int] = set()

    def __call__(self, p: Poly) -> Poly:
        """p without carried atoms, but for those that are being worked out."""
        for _ in range(8):
            image = {}
            for a in self.n.algebra.leaves(p):
                if a.kind == "carried" and id(_node_of(a)) not in self._active:
                    image[a] = self._image(a)
            if not image:
                return p
            p = self.n.algebra.rebuild(p, image)
        return p

    def _image(self, atom: Atom) -> Poly:
        node: Node = _node_of(atom)
        base = self._base(node)
        here = atom.args
        original = self.n.axes_of(node)
        if here == original or not base.lanes:
            return base
        if len(here) != len(original):
            return self._arbitrary(node, base, frozenset(here))
        return self.n.algebra.move_axes(
            base, {**{k: k for k in base.lanes}, **dict(zip(original, here, strict=True))}
        )

    def _base(self, node: Node) -> Poly:
        """The value of a carried node in its own axes."""
        if id(node) in self._known:
            return self._known[id(node)]
        self._active.add(id(node))
        try:
            value = self._solve(node)
        except TooLarge:
            value = self._arbitrary(node, self.n(node.args[0]), frozenset(self.n.axes_of(node)))
        self._active.discard(id(node))
        self._known[id(node)] = value
        return value

    def _solve(self, node: Node) -> Poly:
        start = self(self.n(node.args[0]))
        out_node = node.attr.out
        if out_node is None:
            return self._arbitrary(node, start, start.lanes)
        out, mine = self(self.n(out_node)), self.n(node)
        if out == mine:
            return start
        me = mine.single_atom()
        step = out - mine
        loop = node.attr.loop
        if me is None or (out_node.rank != node.rank and out_node.rank not in (None, 0)):
            return self._arbitrary(node, start + out, start.lanes | out.lanes)
        if not _mentions(self.n, step, me):
            if not any(loop in a.loops for a in step.atoms()):
                count = self.n.algebra.leaf("iter", loop, nonneg=True, walks=True, loops=frozenset((loop,)))
                return start + of_atom(count) * step
            return start + self._arbitrary(node, step, step.lanes)
        if not _mentions(self.n, out, me):
            return self.n.algebra.choose(None, ("first", loop), start, out)
        return self._arbitrary(node, start + step, start.lanes | step.lanes)

    def _arbitrary(self, node: Node, like: Poly, lanes: frozenset[int]) -> Poly:
        leaves = self.n.algebra.leaves(like)
        data = any(a.data for a in leaves)
        atom = self.n.algebra.free(
            "data",
            (id(node), REASON),
            tuple(sorted(lanes)),
            data=data,
            walks=not data,
            loops=frozenset((node.attr.loop,)),
            reason=None if data or not lanes else REASON,
            nonneg=ranges.nonneg(self.n.algebra, like) and not any(a.kind == "carried" for a in leaves),
        )
        return of_atom(atom)


def _node_of(atom: Atom) -> Node:
    attr = atom.attr
    while not (isinstance(attr, tuple) and len(attr) == 2 and isinstance(attr[1], Node)):
        attr = attr[0]  # renamed by a reshape: (original attr, image)
    return attr[1]


def _mentions(n: Normalizer, p: Poly, atom: Atom) -> bool:
    return any(a.kind == "carried" and _node_of(a) is _node_of(atom) for a in n.algebra.leaves(p))
