"""Normal forms of the values that a kernel starts from.

These are constants, parameters, program ids, loop variables, lanes, loaded data and what is not understood.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from coalesce_lint.index import ranges
from coalesce_lint.index.nodes import Node
from coalesce_lint.index.poly import Poly, number, of_atom
from coalesce_lint.reasons import Reason

if TYPE_CHECKING:
    from coalesce_lint.index.normalize import Normalizer


#: Stands for "some axes" in values whose shape is not known.
UNKNOWN_AXIS = -1


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
    return of_atom(
        n.algebra.leaf("pid", node.attr if node.attr is not None else id(node), nonneg=True, walks=True)
    )


def _num_programs(n: Normalizer, node: Node) -> Poly:
    return of_atom(n.algebra.leaf("npid", node.attr if node.attr is not None else id(node), nonneg=True))


def _loopvar(n: Normalizer, node: Node) -> Poly:
    start, _, step = (a.cache for a in node.args)
    rising = ranges.nonneg(n.algebra, start) and ranges.nonneg(n.algebra, step)
    lanes = any(a.lanes for a in start.atoms()) or any(a.lanes for a in step.atoms())
    if lanes:
        return n.arbitrary(node, why=Reason.LOOP_OVER_TILE.why)
    loop = node.attr
    return of_atom(n.algebra.leaf("loopvar", loop, nonneg=rising, walks=True, loops=frozenset((loop,))))


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
        return n.arbitrary(node, why=Reason.ARANGE_LENGTH.why, lanes=frozenset((0,)))
    if extent.constant == 1:
        return start
    return start + of_atom(n.algebra.lane(0, extent))


def _load(n: Normalizer, node: Node) -> Poly:
    return n.arbitrary(node, "load", kind="load")


def _data(n: Normalizer, node: Node) -> Poly:
    inputs = [a for x in node.args for a in x.cache.atoms()]
    if any(a.data for a in inputs):
        return n.arbitrary(node, node.attr)
    return n.arbitrary(node, node.attr, why=Reason.RESULT.of(node.attr))


def _opaque(n: Normalizer, node: Node) -> Poly:
    lanes: frozenset[int] | None = None if node.args else frozenset(n.axes_of(node))
    if node.shape is None:
        lanes = frozenset((UNKNOWN_AXIS,))
    return n.arbitrary(node, why=node.attr, lanes=lanes)


MAKERS: dict[str, Callable[[Normalizer, Node], Poly]] = {
    "const": _const,
    "param": _param,
    "pid": _pid,
    "num_programs": _num_programs,
    "loopvar": _loopvar,
    "iter": _iter,
    "carried": _carried,
    "arange": _arange,
    "load": _load,
    "data": _data,
    "opaque": _opaque,
}
