"""Normal forms of tiles made from tiles: casts, moved axes, reshapes, joins, splits, reductions, scans."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from coalesce_lint.index import shapes
from coalesce_lint.index.nodes import Node
from coalesce_lint.index.poly import ONE, ZERO, Poly, number, of_atom
from coalesce_lint.reasons import Reason

if TYPE_CHECKING:
    from coalesce_lint.index.normalize import Normalizer


def _same(n: Normalizer, node: Node) -> Poly:
    return n.aligned(node.args[0], node)


def _cast(n: Normalizer, node: Node) -> Poly:
    p = n.aligned(node.args[0], node)
    if node.attr == "pointer" and p.lanes:
        # the offsets so far are in other elements
        return n.arbitrary(node, why=Reason.POINTER_CAST.why)
    if node.type == "i1" and node.args[0].type != "i1":
        return ONE - n.algebra.equal(p, ZERO)
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
        return n.arbitrary(node, why=Reason.RESHAPE.why, lanes=frozenset(range(len(node.shape or ()))))
    return n.algebra.replace_lanes(p, image)


def _join(n: Normalizer, node: Node) -> Poly:
    """The last axis, of extent 2, tells the parts apart."""
    a, b = (x.cache for x in node.args)
    axis = len(node.shape or ()) - 1
    return a + (b - a) * of_atom(n.algebra.lane(axis, number(2)))


def _interleave(n: Normalizer, node: Node) -> Poly:
    """Element 2k is a[k], element 2k+1 is b[k], along the last axis."""
    if not node.shape:
        return n.arbitrary(node, why=Reason.INTERLEAVE.why, lanes=frozenset((0,)))
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
    data = any(a.data for x in node.args for a in x.cache.atoms())
    lanes = frozenset(n.axes_of(node)) if node.shape else None
    return n.arbitrary(node, node.op, lanes=lanes, why=None if data else Reason.RESULT.of(node.op))


def _reduce(n: Normalizer, node: Node) -> Poly:
    kind, axis = node.attr
    source: Poly = node.args[0].cache
    data = any(a.data for a in source.atoms())
    lanes: frozenset[int] = frozenset()
    if axis is not None and node.args[0].shape is not None:
        lanes = frozenset(k - (k > axis) for k in source.lanes if k != axis)
    why = Reason.REDUCTION.of(kind)
    return n.arbitrary(node, why, lanes=lanes, why=None if data else why)


def _scan(n: Normalizer, node: Node) -> Poly:
    source: Poly = node.args[0].cache
    kind, axis = node.attr
    data = any(a.data for a in source.atoms())
    lanes = source.lanes | ({axis} if axis is not None and axis >= 0 else frozenset(n.axes_of(node)))
    why = Reason.REDUCTION.of(kind)
    name = ("compaction", axis) if kind == "cumsum" and data else why
    return n.arbitrary(node, name, lanes=frozenset(lanes), why=None if data else why)


MAKERS: dict[str, Callable[[Normalizer, Node], Poly]] = {
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
}
