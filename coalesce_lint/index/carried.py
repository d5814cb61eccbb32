"""Loop-carried values: ``p += step`` becomes ``start + iteration * step``.

A name that a loop changes is read as an unknown atom at the loop's head. Once the body is known, the atom is
replaced: by the start value plus the iteration count times the step where the step is the same in every
iteration, by a choice of start and end value where the body binds the name anew, by an arbitrary value
otherwise.
"""

from __future__ import annotations

from coalesce_lint.index import ranges
from coalesce_lint.index.choices import branch_ways
from coalesce_lint.index.nodes import Node
from coalesce_lint.index.normalize import Normalizer
from coalesce_lint.index.poly import Atom, Poly, TooLarge, of_atom
from coalesce_lint.reasons import Reason


class Resolver:
    """Replaces the carried atoms of polynomials; remembers what each became.

    A carried value is worked out in terms of the carried values of the loops around its own, so that the
    outermost loop can be solved with those inside it already known.
    """

    def __init__(self, normalizer: Normalizer) -> None:
        self.n = normalizer
        self._known: dict[int, Poly] = {}

    def __call__(self, p: Poly) -> Poly:
        """p without carried atoms."""
        return self._resolved(p, -1)

    def _resolved(self, p: Poly, depth: int) -> Poly:
        """p without the carried atoms of loops deeper than ``depth``."""
        replaced: set[int] = set()
        while True:
            image: dict[Atom, Poly] = {}
            found: set[int] = set()
            for a in self.n.algebra.leaves(p):
                if a.kind != "carried" or _node_of(a).attr.loop.depth <= depth:
                    continue
                node = _node_of(a)
                found.add(id(node))
                # names that a loop passes in a circle (a, b = b, a) come back: then nothing is known of them
                image[a] = self._circle(a, node) if id(node) in replaced else self._image(a, node)
            if not image:
                return p
            replaced |= found
            p = self.n.algebra.rebuild(p, image)

    def _circle(self, atom: Atom, node: Node) -> Poly:
        return self._arbitrary(node, self.n(node.args[0]), atom.lanes)

    def _image(self, atom: Atom, node: Node) -> Poly:
        base = self._base(node)
        here = atom.args
        original = self.n.axes_of(node)
        if here == original or not base.lanes:
            return base
        if len(here) != len(original):
            return self._arbitrary(node, base, frozenset(here))
        moved = {**{k: k for k in base.lanes}, **dict(zip(original, here, strict=True))}
        return self.n.algebra.move_axes(base, moved)

    def _base(self, node: Node) -> Poly:
        """The value of a carried node in its own axes, in terms of carried values of its and outer loops."""
        if id(node) not in self._known:
            try:
                self._known[id(node)] = self._solve(node)
            except TooLarge:
                lanes = frozenset(self.n.axes_of(node))
                self._known[id(node)] = self._arbitrary(node, self.n(node.args[0]), lanes)
        return self._known[id(node)]

    def _solve(self, node: Node) -> Poly:
        start, mine = self.n(node.args[0]), self.n(node)
        out_node, loop = node.attr.out, node.attr.loop
        if out_node is None:
            return self._arbitrary(node, start, start.lanes | frozenset(self.n.axes_of(node)))
        out = self._resolved(self.n(out_node), loop.depth)
        if out == mine:
            return start
        me = mine.single_atom()
        step = out - mine
        if me is None or (out_node.rank != node.rank and out_node.rank not in (None, 0)):
            return self._arbitrary(node, start + out, start.lanes | out.lanes)
        if not _mentions(self.n, step, me):
            if not any(loop in a.loops for a in step.atoms()):
                count = self.n.algebra.leaf("iter", loop, nonneg=True, walks=True, loops=frozenset((loop,)))
                return start + of_atom(count) * step
            return start + self._arbitrary(node, step, step.lanes)
        if not _mentions(self.n, out, me):
            return self.n.algebra.choose(None, ("first", loop), start, out)
        anew = [way for way in branch_ways(self.n, out) if way != mine]
        if not any(_mentions(self.n, way, me) for way in anew):
            # kept by some branches, bound anew by others
            for k, way in enumerate(anew):
                start = self.n.algebra.choose(None, ("first", loop, k), start, way)
            return start
        return self._arbitrary(node, start + step, start.lanes | step.lanes)

    def _arbitrary(self, node: Node, like: Poly, lanes: frozenset[int]) -> Poly:
        leaves = self.n.algebra.leaves(like)
        data = any(a.data for a in leaves)
        atom = self.n.algebra.free(
            "data",
            (id(node), Reason.LOOP_CARRIED),
            tuple(sorted(lanes)),
            data=data,
            walks=not data,
            loops=frozenset((node.attr.loop,)),
            reason=None if data or not lanes else Reason.LOOP_CARRIED.why,
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
