"""Addresses that are tiles of other shapes, or no tile, by the branch that was taken before."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from coalesce_lint.index.nodes import Node
from coalesce_lint.kernels.build import broadcast_shapes

#: Operations whose result has the shape to which their operands are broadcast.
_BROADCAST = frozenset(
    ("add", "sub", "mul", "div", "mod", "min", "max", "and", "or", "xor", "shl", "shr", "where")
)
#: Operations whose result has the shape of their first operand.
_SAME = frozenset(("hint", "cast", "carried", "neg", "not"))

#: Whether the condition of a branch holds where the access is reached; None where it is not known.
Holds = Callable[[Node], bool | None]


class Uneven:
    """The joins of a kernel at which tiles of different shapes meet. A join has the larger shape."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._joins = {
            id(n)
            for n in nodes
            if n.op == "phi"
            and None not in (n.args[1].shape, n.args[2].shape)
            and n.args[1].shape != n.args[2].shape
        }

    def reaches(self, address: Node, holds: Holds | None = None) -> bool:
        """Whether the address comes from such a join that ``holds`` does not decide."""
        todo, seen = [address] if self._joins else [], set()
        while todo:
            node = todo.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if id(node) in self._joins:
                taken = holds(node.args[0]) if holds is not None else None
                if taken is None:
                    return True
                todo.append(node.args[1] if taken else node.args[2])
            else:
                todo += node.args
        return False

    def shape(self, address: Node, holds: Holds) -> tuple[Any, ...] | None:
        """The shape of the address where decided joins have that of what was taken; None where not known."""
        known: dict[int, tuple[Any, ...] | None] = {}

        def of(node: Node) -> tuple[Any, ...] | None:
            if id(node) not in known:
                known[id(node)] = self._shape(node, holds, of)
            return known[id(node)]

        return of(address) if self.reaches(address) else address.shape

    def _shape(
        self, node: Node, holds: Holds, of: Callable[[Node], tuple[Any, ...] | None]
    ) -> tuple[Any, ...] | None:
        if id(node) in self._joins and (taken := holds(node.args[0])) is not None:
            return of(node.args[1] if taken else node.args[2])
        if node.op in _SAME:
            return of(node.args[0])
        if node.op in _BROADCAST:
            whole: tuple[Any, ...] | None = ()
            for operand in node.args:
                whole = broadcast_shapes(whole, of(operand))
            return whole
        return node.shape
