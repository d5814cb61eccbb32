"""Normal forms of conditions and of bit operations: and, or, xor, shifts, comparisons, choices."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from coalesce_lint.index import ranges
from coalesce_lint.index.nodes import Node
from coalesce_lint.index.poly import ONE, ZERO, Poly, number
from coalesce_lint.reasons import Reason

if TYPE_CHECKING:
    from coalesce_lint.index.normalize import Normalizer


def truth(n: Normalizer, node: Node) -> Poly:
    """The value of a condition as 0 or 1."""
    p = n(node)
    if p.constant is not None:
        return number(int(p.constant != 0))
    if node.type == "i1":
        return p
    return ONE - n.algebra.equal(p, ZERO)


def _boolean(node: Node) -> bool:
    return all(a.type == "i1" for a in node.args)


def _and(n: Normalizer, node: Node) -> Poly:
    a, b = n.aligned(node.args[0], node), n.aligned(node.args[1], node)
    if _boolean(node):
        if len(a.terms) * len(b.terms) > 16:
            return n.arbitrary(node, "condition")
        return _idempotent(a * b)
    for x, k in ((a, b.constant), (b, a.constant)):
        if k is not None and k >= 0 and (k + 1) & k == 0:
            return n.algebra.mod(x, number(k + 1), "floor")
        if k is not None and k > 0:
            low = k & -k
            if ((k // low + 1) & (k // low)) == 0:  # a run of ones: (x // low) % (k/low + 1) * low
                return n.algebra.mod(
                    n.algebra.div(x, number(low), "floor"), number(k // low + 1), "floor"
                ).scale(low)
        if k is not None and k < 0 and ((-k) & (-k - 1)) == 0:  # clears the low bits: x - x % -k
            return x - n.algebra.mod(x, number(-k), "floor")
    return _bitwise(n, node)


def _or(n: Normalizer, node: Node) -> Poly:
    a, b = n.aligned(node.args[0], node), n.aligned(node.args[1], node)
    if _boolean(node):
        if len(a.terms) * len(b.terms) > 16:
            return n.arbitrary(node, "condition")
        return a + b - _idempotent(a * b)
    if _disjoint_bits(n, a, b) or _disjoint_bits(n, b, a):
        return a + b
    return _bitwise(n, node)


def _idempotent(p: Poly) -> Poly:
    """Comparisons are 0 or 1, so their powers are themselves."""
    out = ZERO
    for m, c in p.terms.items():
        kept = tuple(a for k, a in enumerate(m) if not (a.kind == "cmp" and k and m[k - 1] is a))
        out = out + Poly({kept: c})
    return out


def _disjoint_bits(n: Normalizer, a: Poly, b: Poly) -> bool:
    """True where 0 <= b < 2**k and 2**k divides a, so that ``a | b`` is ``a + b``."""
    high = ranges.upper(n.algebra, b)
    if high is None or high.constant is None or not ranges.nonneg(n.algebra, b):
        return False
    size = 1 << max(high.constant, 0).bit_length()
    return all(c % size == 0 for c in a.terms.values())


def _xor(n: Normalizer, node: Node) -> Poly:
    a, b = n.aligned(node.args[0], node), n.aligned(node.args[1], node)
    for x, k in ((a, b.constant), (b, a.constant)):
        if k is not None and k >= 0:
            if k == 0:
                return x
            if k & (k - 1) == 0:  # flips one bit: x + k - 2k * bit
                bit = n.algebra.mod(n.algebra.div(x, number(k), "floor"), number(2), "floor")
                return x + number(k) - bit.scale(2 * k)
    return _bitwise(n, node)


def _bitwise(n: Normalizer, node: Node) -> Poly:
    if any(a.wild for x in node.args for a in x.cache.atoms()):
        return n.arbitrary(node, node.op)
    return n.arbitrary(node, why=Reason.BIT_OPERATION.why)


def _shl(n: Normalizer, node: Node) -> Poly:
    a, b = n.aligned(node.args[0], node), n.aligned(node.args[1], node)
    k = b.constant
    if k is not None and 0 <= k < 64:
        return a.scale(1 << k)
    return n.arbitrary(node, "shift")


def _shr(n: Normalizer, node: Node) -> Poly:
    a, b = n.aligned(node.args[0], node), n.aligned(node.args[1], node)
    k = b.constant
    if k is not None and 0 <= k < 64:
        return n.algebra.div(a, number(1 << k), "floor")
    return _bitwise(n, node)


def _not(n: Normalizer, node: Node) -> Poly:
    if node.type == "i1":
        return ONE - truth(n, node.args[0])
    return -n.aligned(node.args[0], node) - ONE


def _cmp(n: Normalizer, node: Node) -> Poly:
    a, b = n.aligned(node.args[0], node), n.aligned(node.args[1], node)
    less, op = n.algebra.less, node.attr
    if op == "lt":
        return less(a, b)
    if op == "gt":
        return less(b, a)
    if op == "le":
        return ONE - less(b, a)
    if op == "ge":
        return ONE - less(a, b)
    same = n.algebra.equal(a, b)
    return same if op == "eq" else ONE - same


def _choice(n: Normalizer, node: Node) -> Poly:
    cond, a, b = node.args
    pa, pb = n.aligned(a, node), n.aligned(b, node)
    if cond.op == "const" and cond.attr is None:
        return n.algebra.choose(None, id(node), pa, pb)
    p = truth(n, cond)
    if cond.shape and node.shape is not None and len(cond.shape) < len(node.shape):
        pad = len(node.shape) - len(cond.shape)
        p = n.algebra.move_axes(p, {k: k + pad for k in range(len(cond.shape))})
    return n.algebra.choose(p, id(node), pa, pb)


MAKERS: dict[str, Callable[[Normalizer, Node], Poly]] = {
    "and": _and,
    "or": _or,
    "xor": _xor,
    "shl": _shl,
    "shr": _shr,
    "not": _not,
    "cmp": _cmp,
    "where": _choice,
    "phi": _choice,
}
