"""From expression nodes to normal forms: each node's value as a polynomial over atoms, in its own tile's axes.

The walk over the graph is iterative (kernels have chains of a thousand statements) and remembers each node's result on
the node. A value that grows past the bounds of ``poly.py`` becomes an arbitrary value with a reason.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from coalesce_lint.index import shapes
from coalesce_lint.index.nodes import Node
from coalesce_lint.index.poly import ONE, ZERO, Poly, TooLarge, number, of_atom
from coalesce_lint.index.terms import FREE, Algebra

TOO_LARGE = "expression too large"
#: Stands for "some axes" in values whose shape is not known.
UNKNOWN_AXIS = -1
#: Scalars larger than this many terms are given a name instead of being multiplied out further.
FOLD_TERMS = 60


class Normalizer:
    """Turns the nodes of one kernel into polynomials. ``values`` pins parameters to numbers."""

    def __init__(self, values: dict[str, int] | None = None) -> None:
        self.algebra = Algebra()
        self.values = values or {}

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
                top.cache = self._arbitrary(top, TOO_LARGE, kind="opaque")
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
        return made

    # -- helpers ---------------------------------------------------------------------------------------------------

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

    def _arbitrary(self, node: Node, name: Any, kind: str = "data", lanes: Any = None) -> Poly:
        """A value with nothing known but the axes it may vary on and where it comes from."""
        inputs = [a for arg in node.args if arg.cache is not None for a in arg.cache.atoms()]
        if lanes is None:
            lanes = frozenset().union(*(self.aligned(a, node).lanes for a in node.args if a.cache is not None))
        reason = next((a.reason for a in inputs if a.reason), None)
        if kind == "opaque":
            reason = reason or str(name)
        data = node.op == "load" or any(a.data for a in inputs)
        atom = self.algebra.free(
            kind,
            (id(node), name),
            tuple(sorted(lanes)),
            data=data,
            walks=not data and any(a.walks for a in inputs),
            loops=frozenset().union(*(a.loops for a in inputs)),
            reason=reason,
        )
        return of_atom(atom)


Maker = Callable[[Normalizer, Node], Poly]


def _const(n: Normalizer, node: Node) -> Poly:
    if isinstance(node.attr, (bool, int)):
        return number(int(node.attr))
    return of_atom(n.algebra.leaf("const", repr(node.attr)))


def _param(n: Normalizer, node: Node) -> Poly:
    p = node.attr
    value = n.values.get(p.name, p.value if hasattr(p, "value") else None)
    if isinstance(value, int):
        return number(int(value))
    return of_atom(n.algebra.leaf("param", p, nonneg=True))


def _pid(n: Normalizer, node: Node) -> Poly:
    return of_atom(n.algebra.leaf("pid", node.attr if node.attr is not None else id(node), nonneg=True, walks=True))


def _num_programs(n: Normalizer, node: Node) -> Poly:
    return of_atom(n.algebra.leaf("npid", node.attr if node.attr is not None else id(node), nonneg=True))


def _loopvar(n: Normalizer, node: Node) -> Poly:
    from coalesce_lint.index import ranges

    start, _, step = (a.cache for a in node.args)
    rising = ranges.nonneg(n.algebra, start) and ranges.nonneg(n.algebra, step)
    lanes = any(a.lanes for a in start.atoms()) or any(a.lanes for a in step.atoms())
    if lanes:
        return n._arbitrary(node, "loop over a tile", kind="opaque")
    loop = node.attr
    return of_atom(
        n.algebra.leaf("loopvar", loop, nonneg=rising, walks=True, loops=frozenset((loop,)))
    )


def _iter(n: Normalizer, node: Node) -> Poly:
    loop = node.attr
    return of_atom(n.algebra.leaf("iter", loop, nonneg=True, walks=True, loops=frozenset((loop,))))


def _carried(n: Normalizer, node: Node) -> Poly:
    axes = n.axes_of(node)
    carry = node.attr
    return of_atom(n.algebra.free("carried", (id(node), node), axes, loops=frozenset((carry.loop,))))


def _arange(n: Normalizer, node: Node) -> Poly:
    start = node.args[0].cache
    extent = n.extent(node.shape[0]) if node.shape else None
    if extent is None:
        return n._arbitrary(node, "arange of unknown length", kind="opaque", lanes=frozenset((0,)))
    if extent.constant == 1:
        return start
    return start + of_atom(n.algebra.lane(0, extent))


def _add(n: Normalizer, node: Node) -> Poly:
    return n.aligned(node.args[0], node) + n.aligned(node.args[1], node)


def _sub(n: Normalizer, node: Node) -> Poly:
    return n.aligned(node.args[0], node) - n.aligned(node.args[1], node)


def _mul(n: Normalizer, node: Node) -> Poly:
    a, b = n.aligned(node.args[0], node), n.aligned(node.args[1], node)
    if _wild(a) and _wild(b):
        return n._arbitrary(node, "product")
    return a * b


def _wild(p: Poly) -> bool:
    return len(p.terms) > 1 and any(a.kind in ("load", "data") for a in p.atoms())


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
            return n._arbitrary(node, "condition")
        return _idempotent(a * b)
    for x, k in ((a, b.constant), (b, a.constant)):
        if k is not None and k >= 0 and (k + 1) & k == 0:
            return n.algebra.mod(x, number(k + 1), "floor")
        if k is not None and k > 0:
            low = k & -k
            if ((k // low + 1) & (k // low)) == 0:  # a run of ones: (x // low) % (k/low + 1) * low
                return n.algebra.mod(n.algebra.div(x, number(low), "floor"), number(k // low + 1), "floor").scale(low)
        if k is not None and k < 0 and ((-k) & (-k - 1)) == 0:  # clears the low bits: x - x % -k
            return x - n.algebra.mod(x, number(-k), "floor")
    return _bitwise(n, node)


def _or(n: Normalizer, node: Node) -> Poly:
    a, b = n.aligned(node.args[0], node), n.aligned(node.args[1], node)
    if _boolean(node):
        if len(a.terms) * len(b.terms) > 16:
            return n._arbitrary(node, "condition")
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
    from coalesce_lint.index import ranges

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
    if any(a.data for x in node.args for a in x.cache.atoms()):
        return n._arbitrary(node, node.op)
    return n._arbitrary(node, "bit operation", kind="opaque")


def _shl(n: Normalizer, node: Node) -> Poly:
    a, b = n.aligned(node.args[0], node), n.aligned(node.args[1], node)
    k = b.constant
    if k is not None and 0 <= k < 64:
        return a.scale(1 << k)
    return n._arbitrary(node, "shift")


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


def _load(n: Normalizer, node: Node) -> Poly:
    return n._arbitrary(node, "load", kind="load")


def _same(n: Normalizer, node: Node) -> Poly:
    return n.aligned(node.args[0], node)


def _cast(n: Normalizer, node: Node) -> Poly:
    p = n.aligned(node.args[0], node)
    if node.attr == "pointer" and p.lanes:
        return n._arbitrary(node, "pointer cast of a tile", kind="opaque")  # offsets so far are in other elements
    return p


def _expand(n: Normalizer, node: Node) -> Poly:
    at, rank = node.attr, len(node.args[0].shape or ())
    return n.algebra.move_axes(node.args[0].cache, {k: k + (k >= at) for k in range(rank)})


def _trans(n: Normalizer, node: Node) -> Poly:
    return n.algebra.move_axes(node.args[0].cache, {old: new for new, old in enumerate(node.attr)})


def _reshape(n: Normalizer, node: Node) -> Poly:
    p = node.args[0].cache
    if not p.lanes:
        return p
    image = shapes.reshape_image(n, node.args[0].shape, node.shape)
    if image is None:
        return n._arbitrary(node, "reshape", kind="opaque", lanes=frozenset(range(len(node.shape or ()))))
    return n.algebra.replace_lanes(p, image)


def _join(n: Normalizer, node: Node) -> Poly:
    """The last axis, of extent 2, tells the parts apart."""
    a, b = (x.cache for x in node.args)
    axis = len(node.shape or ()) - 1
    return a + (b - a) * of_atom(n.algebra.lane(axis, number(2)))


def _interleave(n: Normalizer, node: Node) -> Poly:
    """Element 2k is a[k], element 2k+1 is b[k], along the last axis."""
    if not node.shape:
        return n._arbitrary(node, "interleave", kind="opaque", lanes=frozenset((0,)))
    axis = len(node.shape) - 1
    lane = of_atom(n.algebra.lane(axis, n.extent(node.shape[axis])))
    half, odd = n.algebra.div(lane, number(2), "floor"), n.algebra.mod(lane, number(2), "floor")
    image = {k: of_atom(n.algebra.lane(k, n.extent(d))) for k, d in enumerate(node.shape)}
    image[axis] = half
    a, b = (n.algebra.replace_lanes(x.cache, image) for x in node.args)
    return a + (b - a) * odd


def _split(n: Normalizer, node: Node) -> Poly:
    """One half of a tile whose last axis has extent 2."""
    source = node.args[0]
    axis = len(source.shape or ()) - 1
    image = {k: of_atom(n.algebra.lane(k, n.extent(d))) for k, d in enumerate(source.shape or ())}
    image[axis] = number(node.attr)
    return n.algebra.replace_lanes(source.cache, image)


def _mixed(n: Normalizer, node: Node) -> Poly:
    kind = "data" if any(a.data for x in node.args for a in x.cache.atoms()) else "opaque"
    return n._arbitrary(node, node.op, kind=kind, lanes=frozenset(n.axes_of(node)) if node.shape else None)


def _reduce(n: Normalizer, node: Node) -> Poly:
    kind, axis = node.attr
    source: Poly = node.args[0].cache
    data = any(a.data for a in source.atoms())
    lanes: frozenset[int] = frozenset()
    if axis is not None and node.args[0].shape is not None:
        lanes = frozenset(k - (k > axis) for k in source.lanes if k != axis)
    return n._arbitrary(node, f"{kind} of a tile", kind="data" if data else "opaque", lanes=lanes)


def _scan(n: Normalizer, node: Node) -> Poly:
    source: Poly = node.args[0].cache
    kind, axis = node.attr
    data = any(a.data for a in source.atoms())
    lanes = source.lanes | ({axis} if axis is not None and axis >= 0 else frozenset(n.axes_of(node)))
    name = ("compaction", axis) if kind == "cumsum" and data else f"{kind} of a tile"
    return n._arbitrary(node, name, kind="data" if data else "opaque", lanes=frozenset(lanes))


def _data(n: Normalizer, node: Node) -> Poly:
    inputs = [a for x in node.args for a in x.cache.atoms()]
    kind = "data" if any(a.data for a in inputs) else "opaque"
    return n._arbitrary(node, node.attr, kind=kind)


def _opaque(n: Normalizer, node: Node) -> Poly:
    lanes: frozenset[int] | None = None if node.args else frozenset(n.axes_of(node))
    if node.shape is None:
        lanes = frozenset((UNKNOWN_AXIS,))
    return n._arbitrary(node, node.attr, kind="opaque", lanes=lanes)


_NEED_SHAPE = frozenset(("arange", "reshape", "join", "interleave", "split", "carried", "cat", "scan", "sort", "opaque"))

_MAKERS: dict[str, Maker] = {
    "const": _const,
    "param": _param,
    "pid": _pid,
    "num_programs": _num_programs,
    "loopvar": _loopvar,
    "iter": _iter,
    "carried": _carried,
    "arange": _arange,
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "mod": _mod,
    "min": _extreme,
    "max": _extreme,
    "neg": _neg,
    "and": _and,
    "or": _or,
    "xor": _xor,
    "shl": _shl,
    "shr": _shr,
    "not": _not,
    "cmp": _cmp,
    "where": _choice,
    "phi": _choice,
    "load": _load,
    "expand": _expand,
    "broadcast": _same,
    "cast": _cast,
    "hint": _same,
    "trans": _trans,
    "reshape": _reshape,
    "join": _join,
    "split": _split,
    "interleave": _interleave,
    "cat": _mixed,
    "sort": _mixed,
    "reduce": _reduce,
    "scan": _scan,
    "data": _data,
    "opaque": _opaque,
}

__all__ = ["FREE", "Normalizer", "truth"]
