"""Loads of small tiles take the layout of what uses them.

Models ``RemoveLayoutConversions.cpp``: a load of at least as many elements as the program has threads keeps
the layout that the Coalesce pass chose (it is an anchor); a smaller one is cheap enough to be repeated, so
that it is loaded in the layout that its consumer wants, without a conversion.
"""

from __future__ import annotations

from collections import Counter

from coalesce_lint.hardware.analysis import Analysis, Unresolved
from coalesce_lint.hardware.graph import walk
from coalesce_lint.hardware.layout import MemoryOp, default_layout
from coalesce_lint.hardware.linear_layout import LinearLayout, sliced
from coalesce_lint.index.nodes import Node
from coalesce_lint.pins import ELEMENT_BYTES

#: Operations whose operands are wanted in the layout of their result.
_ELEMENTWISE = frozenset(
    ("add", "sub", "mul", "div", "mod", "min", "max", "and", "or", "xor", "shl", "shr", "neg", "not", "cmp",
     "where", "cast", "hint", "data", "broadcast", "phi")
)  # fmt: skip


_TYPES = {
    "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64", "int8": "i8", "int16": "i16",
    "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
}  # fmt: skip


class Relayout:
    """Walks from the anchors back to the small loads that feed them."""

    def __init__(self, ops: list[MemoryOp], analysis: Analysis) -> None:
        self.ops = ops
        self.analysis = analysis
        self.by_address = {id(op.origin.site.address): op for op in ops if op.kind == "load"}
        self.settled: set[int] = set()
        self.loops: set[int] = set()
        self.memo: dict[int, LinearLayout | None] = {}
        self.uses = Counter(
            id(node)
            for op in ops
            if op.origin.site.value is not None
            for node in walk([op.origin.site.value])
            if node.op == "load"
        )

    def anchored(self, op: MemoryOp) -> bool:
        """True for operations that keep their layout (``isLayoutAnchor``)."""
        if op.kind == "atomic":
            return bool(op.shape)
        return op.layout is not None and op.elements >= self.analysis.launch.threads

    def forward(self, node: Node) -> LinearLayout | None:
        """The layout that a value has from the anchors it is computed from; None where none of them is
        large."""
        if id(node) not in self.memo:
            self.memo[id(node)] = None
            self.memo[id(node)] = self._forward(node)
        return self.memo[id(node)]

    def _forward(self, node: Node) -> LinearLayout | None:
        try:
            shape = self.analysis.shape(node)
        except Unresolved:
            return None
        if not shape:
            return None
        if node.op == "load":
            op = self.by_address.get(id(node.args[0]))
            return op.layout if op is not None and self.anchored(op) else None
        if node.op in _ELEMENTWISE:
            for a in node.args:
                found = self.forward(a)
                if found is not None and found.shape == shape:
                    return found
        if node.op == "carried":
            for a in (node.args[0], node.attr.out):
                found = self.forward(a) if a is not None else None
                if found is not None and found.shape == shape:
                    return found
        if node.op == "trans":
            inner = self.forward(node.args[0])
            return transposed(inner, node.attr) if inner is not None else None
        if node.op == "reduce" and node.attr[1] is not None:
            inner = self.forward(node.args[0])
            return sliced_axis(inner, node.attr[1]) if inner is not None else None
        return None

    def demand(self, node: Node, layout: LinearLayout | None) -> None:
        """A consumer wants ``node`` in ``layout``: passes the wish on to the small loads behind it."""
        try:
            shape = self.analysis.shape(node)
        except Unresolved:
            return
        own = self.forward(node)
        wanted = own if own is not None else layout
        if wanted is not None and wanted.shape != shape:
            wanted = None
        if node.op == "load":
            self._load(node, wanted)
        elif node.op in _ELEMENTWISE:
            for a in node.args:
                self._operand(a, wanted, shape)
        elif node.op == "trans" and wanted is not None:
            self.demand(node.args[0], untransposed(wanted, node.attr))
        elif node.op == "carried":
            self._loop(node, wanted if own is not None else None, shape)
        elif node.op == "expand" and wanted is not None and self.analysis.shape(node.args[0]):
            self.demand(node.args[0], sliced_axis(wanted, node.attr))
        elif node.op == "reduce":
            inner = self.analysis.shape(node.args[0])
            self.demand(
                node.args[0], default_layout(inner, self.analysis.launch.num_warps) if inner else None
            )

    def _loop(self, node: Node, wanted: LinearLayout | None, shape: tuple[int, ...]) -> None:
        """A loop is too expensive to be repeated in another layout: without an anchor it keeps the default
        one."""
        if id(node) in self.loops:
            return
        self.loops.add(id(node))
        layout = wanted or (default_layout(shape, self.analysis.launch.num_warps) if shape else None)
        for value in (node.args[0], node.attr.out):
            if value is not None:
                self._operand(value, layout, shape)

    def _operand(self, node: Node, wanted: LinearLayout | None, shape: tuple[int, ...]) -> None:
        """An operand of an elementwise operation: Triton broadcasts it to ``shape`` first."""
        try:
            own = self.analysis.shape(node)
        except Unresolved:
            return
        if not own or wanted is None:
            self.demand(node, None)
            return
        layout = wanted
        for _ in range(len(shape) - len(own)):
            layout = sliced_axis(layout, 0)
        fits = all(d in (1, e) for d, e in zip(own, layout.shape, strict=True))
        self.demand(node, narrowed(layout, own) if fits else None)

    def _load(self, node: Node, wanted: LinearLayout | None) -> None:
        """A small load is made once in each layout that is wanted of it."""
        op = self.by_address.get(id(node.args[0]))
        if op is None or op.layout is None or wanted is None or self.anchored(op):
            return
        if id(op) not in self.settled:
            self.settled.add(id(op))
            op.layout = wanted
        elif wanted == op.layout or wanted in op.copies:
            return
        else:
            op.copies.append(wanted)
        self.operands(op, wanted)

    def operands(self, op: MemoryOp, layout: LinearLayout | None) -> None:
        """Passes a layout of an operation on to its pointer, mask and value."""
        site = op.origin.site
        for node in (site.address, site.predicate, site.value if op.kind != "load" else None):
            if isinstance(node, Node):
                if op.shape and node is site.value and self.costly(node):
                    self._operand(node, default_layout(op.shape, self.analysis.launch.num_warps), op.shape)
                    continue
                hoisted = node is site.value and self.hoists(node, layout)
                saved = self.memo
                if hoisted:
                    self.memo = dict.fromkeys((id(n) for n in walk([node])), None)
                self._operand(node, layout, op.shape)
                self.memo = saved

    def costly(self, value: Node) -> bool:
        """True where computing ``value`` once more in another layout costs more than converting it.

        Models the costs of ``backwardRematerialization``, in eighths of a cycle a byte: 8 for what is
        loaded, 1 for what is computed, against 32 for a conversion (of at least 32 elements of 4 bytes).
        Only values with several uses cost anything: others are moved, not repeated.
        """
        loads: list[MemoryOp] = []
        work = uses = 0
        for node in walk([value]):
            op = self.by_address.get(id(node.args[0])) if node.op == "load" else None
            if op is not None and op.layout is not None:
                loads.append(op)
                uses = max(uses, self.uses[id(node)])
            elif node.op in _ELEMENTWISE and node.shape:
                work += 1
        if uses < 2 or any(self.anchored(op) for op in loads):
            return False
        elements = max(op.elements for op in loads)
        cost = sum(8 * op.elements * op.element_bytes for op in loads) + 4 * work * elements
        return cost > 32 * 4 * max(elements, 32)

    def hoists(self, value: Node, wanted: LinearLayout | None) -> bool:
        """True where a store's conversion moves up to the widening cast of one load.

        Models ``hoistConvertOnTopOfExtOrBroadcast``: converting before a value gets wider moves fewer
        bytes; all that is computed after the cast is then computed in the store's layout.
        """
        if not self.analysis.launch.profile.hoists:
            return False
        own = self.forward(value)
        return own is not None and own != wanted and self._conversions(value) == 1

    def _conversions(self, node: Node) -> int:
        """Widening casts of values that cannot be repeated, 2 where such a value is reached without one."""
        if node.op == "load":
            op = self.by_address.get(id(node.args[0]))
            return 2 if op is None or self.anchored(op) else 0
        if node.op == "cast" and self.widens(node):
            return min(self._conversions(node.args[0]), 1)
        if node.op in ("reduce", "scan", "sort", "carried", "opaque", "phi"):
            return 2
        return sum(self._conversions(a) for a in node.args)

    def widens(self, node: Node) -> bool:
        """True for a cast of a loaded value to a wider type of the same kind (``extf``, ``extsi``)."""
        source = node.args[0]
        if source.op != "load":
            return False
        op = self.by_address.get(id(source.args[0]))
        old = op.element_type if op is not None else ""
        new = _TYPES.get(str(node.attr), str(node.attr))
        floats = old[:2] in ("fp", "bf") and new[:2] in ("fp", "bf")
        ints = old[:1] in ("i", "u") and new[:1] in ("i", "u")
        return (floats or ints) and ELEMENT_BYTES.get(new, 0) > ELEMENT_BYTES.get(old, 99)


def sliced_axis(layout: LinearLayout, axis: int) -> LinearLayout:
    """The layout of a tile without ``axis``; where the parent has extent there, the lanes along it become
    duplicates."""
    return sliced(narrowed(layout, (*layout.shape[:axis], 1, *layout.shape[axis + 1 :])), axis)


def transposed(layout: LinearLayout, order: tuple[int, ...]) -> LinearLayout:
    """The layout of the transposed tile: axis k of the result is axis order[k] (``TransOp``'s layout
    inference)."""

    def turn(bases: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(b[k] for k in order) for b in bases)

    shape = tuple(layout.shape[k] for k in order)
    return LinearLayout(shape, turn(layout.register), turn(layout.lane), turn(layout.warp))


def untransposed(layout: LinearLayout, order: tuple[int, ...]) -> LinearLayout:
    """The layout of the tile before it was transposed into ``layout``."""
    return transposed(layout, tuple(order.index(k) for k in range(len(order))))


def narrowed(layout: LinearLayout, shape: tuple[int, ...]) -> LinearLayout:
    """The layout of a tile that is broadcast to the layout's shape: along axes of extent 1 all hold the
    same element."""
    if layout.shape == shape:
        return layout

    def cut(bases: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(0 if s == 1 else c for c, s in zip(b, shape, strict=True)) for b in bases)

    return LinearLayout(shape, cut(layout.register), cut(layout.lane), cut(layout.warp))


def relayout(ops: list[MemoryOp], analysis: Analysis) -> None:
    """Gives loads of small tiles the layout of their consumers; large ones and stores keep theirs."""
    relay = Relayout(ops, analysis)
    small = [op for op in ops if op.kind == "load" and op.shape and not relay.anchored(op)]
    if not small:
        return
    for op in ops:
        if op.kind != "load" or relay.anchored(op):
            relay.operands(op, op.layout)
