"""Normal forms of sums, products, quotients, remainders and extremes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from coalesce_lint.index.nodes import Node
from coalesce_lint.index.poly import Poly

if TYPE_CHECKING:
    from coalesce_lint.index.normalize import Normalizer


def _add(n: Normalizer, node: Node) -> Poly:
    return n.aligned(node.args[0], node) + n.aligned(node.args[1], node)


def _sub(n: Normalizer, node: Node) -> Poly:
    return n.aligned(node.args[0], node) - n.aligned(node.args[1], node)


def _mul(n: Normalizer, node: Node) -> Poly:
    a, b = n.aligned(node.args[0], node), n.aligned(node.args[1], node)
    if _wild(a) and _wild(b):
        return n.arbitrary(node, "product")
    return a * b


def _wild(p: Poly) -> bool:
    return len(p.terms) > 1 and any(a.kind in ("load", "data") and a.lanes for a in p.atoms())


def _div(n: Normalizer, node: Node) -> Poly:
    x, c = n.aligned(node.args[0], node), n.aligned(node.args[1], node)
    return n.algebra.div(x, c, node.attr)


def _mod(n: Normalizer, node: Node) -> Poly:
    x, c = n.aligned(node.args[0], node), n.aligned(node.args[1], node)
    return n.algebra.mod(x, c, node.attr)


def _extreme(n: Normalizer, node: Node) -> Poly:
    return n.algebra.extreme(node.op, n.aligned(node.args[0], node), n.aligned(node.args[1], node))


def _neg(n: Normalizer, node: Node) -> Poly:
    return -node.args[0].cache


MAKERS: dict[str, Callable[[Normalizer, Node], Poly]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "mod": _mod,
    "min": _extreme,
    "max": _extreme,
    "neg": _neg,
}
