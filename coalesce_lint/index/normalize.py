"""From expression nodes to normal forms: each value as a polynomial over atoms, in its own tile's axes.

The walk over the graph is iterative (kernels have chains of a thousand statements) and remembers each node's
result on the node. A value that grows past the bounds of ``poly.py`` becomes an arbitrary value with a
reason. How each operation is written is told by ``leaves``, ``arithmetic``, ``bits`` and ``rearranged``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from coalesce_lint.index import arithmetic, bits, leaves, ranges, rearranged
from coalesce_lint.index.bits import truth
from coalesce_lint.index.nodes import Node
from coalesce_lint.index.poly import ONE, Atom, Poly, TooLarge, number, of_atom
from coalesce_lint.index.terms import Algebra
from coalesce_lint.reasons import Reason, Why

if TYPE_CHECKING:
    from coalesce_lint.index.steps import Steps


class Normalizer:
    """Turns the nodes of one kernel into polynomials. ``values`` pins parameters to numbers."""

    def __init__(self, values: dict[str, int] | None = None) -> None:
        self.algebra = Algebra()
        self.values = values or {}
        #: How divisions move along an axis, as far as it was asked for (``steps``).
        self.quotients: dict[tuple[Atom, int], Steps] = {}

    def __call__(self, node: Node) -> Poly:
        """The normal form of ``node``; axis k of the tile is the lane atom of axis k."""
        stack = [node]
        while stack:
            top = stack[-1]
            if top.cache is not None:
                stack.pop()
                continue
            todo = [a for a in self._needed(top) if a.cache is None]
            if todo:
                stack.extend(todo)
                continue
            stack.pop()
            try:
                top.cache = self._make(top)
            except (TooLarge, RecursionError):
                top.cache = self.arbitrary(top, why=Reason.TOO_LARGE.why)
        return cast(Poly, node.cache)

    @staticmethod
    def _needed(node: Node) -> list[Node]:
        if node.op in ("carried",):
            return [d for d in node.shape or () if isinstance(d, Node)]
        extents = [d for d in node.shape or () if isinstance(d, Node)] if node.op in _NEED_SHAPE else []
        return [*node.args, *extents]

    def extent(self, dim: Any) -> Poly:
        """The extent of a tile axis as a polynomial."""
        return number(dim) if isinstance(dim, int) else self(dim)

    def _make(self, node: Node) -> Poly:
        made = _MAKERS[node.op](self, node)
        if node.type in _LARGEST and node.op in _WRAPPING and not self._fits(made, _LARGEST[node.type]):
            return self.arbitrary(node, why=Reason.NARROWING.why)
        return made

    def _fits(self, p: Poly, largest: int | None) -> bool:
        """True where 0 <= p <= largest is sure, so that no lane wraps round."""
        if not ranges.nonneg(self.algebra, p):
            return False
        top = ranges.upper(self.algebra, p) if largest is not None else ONE
        return largest is None or (top is not None and top.constant is not None and top.constant <= largest)

    # -- helpers ---------------------------------------------------------------------------------------------

    def aligned(self, a: Node, node: Node) -> Poly:
        """The value of an argument in the axes of the result (lower ranks are padded in front)."""
        p: Poly = a.cache
        if a.shape and node.shape is not None and len(a.shape) < len(node.shape):
            pad = len(node.shape) - len(a.shape)
            p = self.algebra.move_axes(p, {k: k + pad for k in range(len(a.shape))})
        return p

    def axes_of(self, node: Node) -> tuple[int, ...]:
        """The axes of a tile along which it can vary at all (extent not 1)."""
        return tuple(k for k, d in enumerate(node.shape or ()) if self.extent(d).constant != 1)

    def arbitrary(
        self, node: Node, name: Any = None, kind: str = "data", lanes: Any = None, why: Why | None = None
    ) -> Poly:
        """A value with nothing known but the axes it may vary on and where it comes from.

        ``why`` is given where the value is not understood, rather than data of which nothing can be said.
        """
        inputs = [a for arg in node.args if arg.cache is not None for a in arg.cache.atoms()]
        if lanes is None:
            lanes = frozenset().union(
                *(self.aligned(a, node).lanes for a in node.args if a.cache is not None)
            )
        reason = next((a.reason for a in inputs if a.reason), None)
        if why is not None:
            kind, name, reason = "opaque", name or why, reason or why
        # what is not understood depends on loaded values lane by lane only where its inputs do
        data = node.op == "load" or any(a.wild if why is not None and lanes else a.data for a in inputs)
        origin: tuple[Any, ...] = ()
        if data and node.op in _LANE_BY_LANE:
            origin = tuple(self.aligned(a, node) for a in node.args)
        atom = self.algebra.free(
            kind,
            (id(node), name),
            tuple(sorted(lanes)),
            data=data,
            walks=not data and any(a.walks for a in inputs),
            loops=frozenset().union(*(a.loops for a in inputs)),
            reason=reason,
            origin=origin,
        )
        return of_atom(atom)


#: The largest value of the integer types into which an index may not fit; None for those that are wide enough
#: but have no negative values.
_LARGEST = {"i8": 127, "u8": 255, "i16": 32767, "u16": 65535, "u32": None, "u64": None}
#: Operations whose result may leave the range of its type.
_WRAPPING = frozenset(("cast", "add", "sub", "mul", "shl", "neg", "not"))
#: Operations whose value at a lane depends on their inputs at that lane only.
_LANE_BY_LANE = frozenset(("load", "data", "cast"))
_NEED_SHAPE = frozenset(
    ("arange", "reshape", "join", "interleave", "split", "carried", "cat", "scan", "sort", "opaque")
)
_MAKERS: dict[str, Callable[[Normalizer, Node], Poly]] = {
    **leaves.MAKERS,
    **arithmetic.MAKERS,
    **bits.MAKERS,
    **rearranged.MAKERS,
}

__all__ = ["Normalizer", "truth"]
