"""Evaluates expression nodes with the numbers of a launch: one program, one iteration of each loop.

Values that kernels load are not known; they are made up from their address (and marked), so that rows
gathered by index fall where rows fall.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from coalesce_lint.hardware import tiles
from coalesce_lint.hardware.analysis import Analysis, Unresolved
from coalesce_lint.hardware.graph import loops_of, walk
from coalesce_lint.hardware.tile_arithmetic import BINARY
from coalesce_lint.hardware.tiles import Tile, apply, scalar
from coalesce_lint.index.nodes import Loop, Node

_INVENTED_BITS = 16
#: Iterations further into a loop than this are not followed step by step.
_MAX_ITERATION = 8

#: Elements of made-up tiles that are kept from one access to the next.
_KEPT_ELEMENTS = 256


def invent(address: int) -> int:
    """A value that stands for what is loaded from ``address``."""
    return ((address + 1) * 0x9E3779B97F4A7C15 >> 40) & ((1 << _INVENTED_BITS) - 1)


class Evaluator:
    """``value`` of nodes for one program. Values that are the same for all programs are shared between
    evaluators."""

    def __init__(
        self,
        analysis: Analysis,
        program: tuple[int, int, int],
        iterations: dict[int, int] | None = None,
        shared: dict[int, Tile] | None = None,
        varying: dict[int, bool] | None = None,
    ) -> None:
        self.analysis = analysis
        self.launch = analysis.launch
        self.arithmetic = analysis.arithmetic
        self.program = program
        self.iterations = iterations or {}
        self.own: dict[int, Tile] = {}
        self.large: list[int] = []
        self.shared = {} if shared is None else shared
        self.varying = {} if varying is None else varying

    def varies(self, node: Node) -> bool:
        """True where a node's value depends on the program or on a loop's iteration."""
        known = self.varying.get(id(node))
        if known is None:
            known = node.op in ("pid", "loopvar", "iter", "carried") or any(self.varies(a) for a in node.args)
            self.varying[id(node)] = known
        return known

    def value(self, node: Node) -> Tile:
        """The node's numbers. Raises Unresolved where the launch or the graph does not give them."""
        store = self.own if self.varies(node) else self.shared
        known = store.get(id(node))
        if known is None:
            known = self._compute(node)
            store[id(node)] = known
            if known.taint_axes is not None and len(known.relative) > _KEPT_ELEMENTS:
                self.large.append(id(node))
        return known

    def forget(self) -> None:
        """Drops large tiles of made-up numbers, which no other program shares."""
        for key in self.large:
            self.own.pop(key, None)
        self.large.clear()

    def number(self, node: Node) -> int:
        tile = self.value(node)
        if not tile.single:
            raise Unresolved("not a scalar")
        return int(tile.base)

    # -- one operation each

    def _compute(self, node: Node) -> Tile:
        op = node.op
        if op in BINARY:
            return self.arithmetic.binary(op, self.value(node.args[0]), self.value(node.args[1]))
        if op in ("div", "mod"):
            return self._division(node)
        if op == "cmp":
            return self.arithmetic.compare(node.attr, self.value(node.args[0]), self.value(node.args[1]))
        method = getattr(self, f"_{op}", None)
        if method is None:
            raise Unresolved(f"{op} is not evaluated")
        return method(node)

    def _division(self, node: Node) -> Tile:
        a, b = (self.value(x) for x in node.args)
        floor = node.attr == "floor"
        if floor and any(y == 0 for y in b.data):
            raise Unresolved("division by zero")
        return self.arithmetic.divide(node.op, a, b, floor)

    def _const(self, node: Node) -> Tile:
        if isinstance(node.attr, (int, float)):
            return scalar(node.attr)
        raise Unresolved("constant is no number")

    def _param(self, node: Node) -> Tile:
        name = node.attr.name
        value = self.launch.values.get(name, node.attr.default)
        if isinstance(value, (int, float)):
            return scalar(value)
        if self.analysis.pointee(node) is not None or self.launch.pointer(name) is not None:
            return scalar(0)
        raise Unresolved(f"{name} not known")

    def _pid(self, node: Node) -> Tile:
        if not isinstance(node.attr, int):
            raise Unresolved("program axis not known")
        return scalar(self.program[node.attr])

    def _num_programs(self, node: Node) -> Tile:
        grid = self.launch.grid
        if grid is None or not isinstance(node.attr, int):
            raise Unresolved("grid not known")
        return scalar((*grid, 1, 1, 1)[node.attr])

    def _arange(self, node: Node) -> Tile:
        start, end = (self.number(a) for a in node.args)
        return Tile((end - start,), list(range(start, end)))

    def _expand(self, node: Node) -> Tile:
        inner = self.value(node.args[0])
        rank = len(self.analysis.shape(node.args[0]))
        return tiles.expand(tiles.aligned(inner, rank), node.attr)

    def _broadcast(self, node: Node) -> Tile:
        return tiles.aligned(self.value(node.args[0]), len(self.analysis.shape(node)))

    def _trans(self, node: Node) -> Tile:
        rank = len(self.analysis.shape(node))
        return tiles.transpose(tiles.aligned(self.value(node.args[0]), rank), node.attr)

    def _reshape(self, node: Node) -> Tile:
        old, new = self.analysis.shape(node.args[0]), self.analysis.shape(node)
        return tiles.reshape(self.value(node.args[0]), old, new)

    def _join(self, node: Node) -> Tile:
        """Two tiles along a new last axis of extent 2."""
        a, b = (tiles.aligned(self.value(x), len(self.analysis.shape(node)) - 1) for x in node.args)
        dims = tuple(max(x, y) for x, y in zip(a.dims, b.dims, strict=True))
        pairs = zip(tiles.stretched(a, dims), tiles.stretched(b, dims), strict=True)
        return Tile((*dims, 2), [v for pair in pairs for v in pair], tiles.union_taint([a, b]))

    def _interleave(self, node: Node) -> Tile:
        """Two tiles element by element along the last axis."""
        shape = self.analysis.shape(node)
        inner = (*shape[:-1], shape[-1] // 2)
        a, b = (tiles.aligned(self.value(x), len(shape)) for x in node.args)
        pairs = zip(tiles.stretched(a, inner), tiles.stretched(b, inner), strict=True)
        return Tile(shape, [v for pair in pairs for v in pair], tiles.union_taint([a, b]))

    def _split(self, node: Node) -> Tile:
        inner = self.value(node.args[0])
        data = inner.data if len(inner.data) == 1 else inner.data[int(node.attr) :: 2]
        return Tile(inner.dims[:-1], data, inner.taint_axes)

    def _cat(self, node: Node) -> Tile:
        parts = [tiles.stretched(self.value(a), self.analysis.shape(a)) for a in node.args]
        return Tile(self.analysis.shape(node), [x for p in parts for x in p])

    def _cast(self, node: Node) -> Tile:
        return self.value(node.args[0])

    def _hint(self, node: Node) -> Tile:
        return self.value(node.args[0])

    def _neg(self, node: Node) -> Tile:
        return self.arithmetic.binary("sub", scalar(0), self.value(node.args[0]))

    def _not(self, node: Node) -> Tile:
        boolean = node.type == "i1"
        return apply(operator.not_ if boolean else operator.invert, self.value(node.args[0]))

    def _where(self, node: Node) -> Tile:
        cond, a, b = (self.value(x) for x in node.args)
        if cond.single and not cond.tainted and a.rank == b.rank == cond.rank:
            return a if cond.base else b
        return apply(lambda c, x, y: x if c else y, cond, a, b)

    def _phi(self, node: Node) -> Tile:
        """Control flow joined: the side that the condition takes, the first where it is not known."""
        try:
            taken = self.number(node.args[0])
        except Unresolved:
            taken = 1
        return self.value(node.args[1] if taken else node.args[2])

    def _load(self, node: Node) -> Tile:
        address = self.value(node.args[0])
        axes = tiles.varying_axes(address) | (address.taint_axes or frozenset())
        return Tile(address.dims, [invent(int(x)) for x in address.data], frozenset(axes))

    def _data(self, node: Node) -> Tile:
        """A value that is computed in ways not followed: made up, lane by lane."""
        shape = self.analysis.shape(node)
        size = 1
        for extent in shape:
            size *= extent
        return Tile(shape, [invent(k) for k in range(size)], frozenset(range(len(shape))))

    _scan = _sort = _data

    def _reduce(self, node: Node) -> Tile:
        """Sums, minima and maxima of known numbers; anything else is made up."""
        kind, axis = node.attr
        folds: dict[str, Callable[[Any], Any]] = {"sum": sum, "max": max, "min": min}
        fold = folds.get(kind)
        inner = self.value(node.args[0])
        shape = self.analysis.shape(node.args[0])
        if fold is None or inner.tainted:
            return self._data(node)
        data = tiles.stretched(tiles.aligned(inner, len(shape)), shape)
        if axis is None:
            return scalar(fold(data))
        last = tiles.transpose(Tile(shape, data), (*[k for k in range(len(shape)) if k != axis], axis))
        step = shape[axis]
        values = [fold(last.data[k : k + step]) for k in range(0, len(last.data), step)]
        return Tile(last.dims[:-1], values)

    # -- loops ------------------------------------------------------------------------------------

    def _loopvar(self, node: Node) -> Tile:
        start, step = self.number(node.args[0]), self.number(node.args[2])
        return scalar(start + step * self.iterations.get(id(node.attr), 0))

    def _iter(self, node: Node) -> Tile:
        return scalar(self.iterations.get(id(node.attr), 0))

    def _carried(self, node: Node) -> Tile:
        """A name that a loop changes, at the head of the iteration: one body after the other from its first
        value."""
        loop = id(node.attr.loop)
        k = self.iterations.get(loop, 0)
        if k <= 0 or node.attr.out is None:
            return self.value(node.args[0])
        step = self._step(node)
        if step is not None:
            start = self.value(node.args[0])
            steps = self.arithmetic.binary("mul", self.value(step), scalar(k))
            return self.arithmetic.binary("add", start, steps)
        if k > _MAX_ITERATION:
            raise Unresolved("iteration too far into a loop")
        before = Evaluator(
            self.analysis, self.program, {**self.iterations, loop: k - 1}, self.shared, self.varying
        )
        for inner in self._inner_loops(node):
            trips = before.trips(inner)
            if trips is not None:
                before.iterations[id(inner)] = trips
        before.own.clear()
        return before.value(node.attr.out)

    def trips(self, loop: Loop) -> int | None:
        """How often a loop is run through, None where its bounds are no numbers."""
        if loop.bounds is None:
            return None
        try:
            start, stop, step = (self.number(a) for a in loop.bounds)
        except Unresolved:
            return None
        return len(range(start, stop, step)) if step else None

    def _inner_loops(self, node: Node) -> tuple[Loop, ...]:
        """The loops within the one that changes a name, which are over at the end of its body."""
        known = self.analysis.inner_loops.get(id(node))
        if known is None:
            outer = node.attr.loop
            found = {loop: None for n in walk([node.attr.out]) for loop in loops_of(n)}
            known = tuple(sorted((p for p in found if p.depth > outer.depth), key=lambda p: p.depth))
            self.analysis.inner_loops[id(node)] = known
        return known

    def _step(self, node: Node) -> Node | None:
        """What a loop adds to a name each time, where that is all that it does to it and stays the same."""
        out = node.attr.out
        if out.op != "add" or node not in out.args:
            return None
        step = out.args[1] if out.args[0] is node else out.args[0]
        loop = node.attr.loop
        for inner in walk([step]):
            if inner.op in ("loopvar", "iter") and inner.attr is loop:
                return None
            if inner.op == "carried" and inner.attr.loop is loop:
                return None
        return step
