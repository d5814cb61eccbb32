"""Contiguity, divisibility and constancy of the nodes of an expression graph, for one launch.

Models ``AxisInfoAnalysis``: one visit an operation, loops by iteration to a fixed point, hints override.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from coalesce_lint.hardware import axis_info
from coalesce_lint.hardware.axis_arithmetic import binary
from coalesce_lint.hardware.axis_info import Info
from coalesce_lint.hardware.graph import Unresolved, hint_values, walk
from coalesce_lint.hardware.launch import Launch, divisible_by_16, specialized_to_one
from coalesce_lint.hardware.tile_arithmetic import Arithmetic
from coalesce_lint.index.nodes import Loop, Node
from coalesce_lint.pins import MAX_TILE

_ARITHMETIC = frozenset(("add", "sub", "mul", "div", "mod", "and", "or", "xor", "shl", "shr"))
#: Operations whose operands are broadcast to the shape of the result.
_BROADCAST = _ARITHMETIC | {"min", "max", "cmp", "where", "broadcast"}
#: Rounds after which a loop's values are given up; divisibilities only fall, so few are needed.
_ROUNDS = 8


class Analysis:
    """``info`` of nodes, remembered by identity. ``hints`` maps a node to what hints say of it."""

    def __init__(self, launch: Launch, roots: Iterable[Node] = ()) -> None:
        self.launch = launch
        self.memo: dict[int, Info] = {}
        self.hints: dict[int, dict[str, tuple[int, ...]]] = {}
        self.shapes: dict[int, tuple[int, ...]] = {}
        self.pointers: dict[int, int | None] = {}
        self.arithmetic = Arithmetic()
        self.provable: dict[int, bool] = {}  #: terms of which the assembler sees where they are equal
        self.inner_loops: dict[int, tuple[Loop, ...]] = {}
        self.evaluators: dict[tuple[Any, ...], Any] = {}  #: by program and iterations of its loops
        self.kept: list[Node] = []  # identities stay unique while their nodes live
        self._collect_hints(roots)

    # -- shapes, constants, pointers

    def shape(self, node: Node) -> tuple[int, ...]:
        """The extents of a node as numbers. Raises Unresolved where one is not known, and where those of the
        operands do not go together: extents that were made up may contradict each other."""
        known = self.shapes.get(id(node))
        if known is None:
            known = self._extents(node)
            if node.op in _BROADCAST and not all(self._fits(a, known) for a in node.args):
                raise Unresolved("extents that do not fit together")
            self.shapes[id(node)] = known
            self.kept.append(node)
        return known

    def _extents(self, node: Node) -> tuple[int, ...]:
        if node.shape is None:
            raise Unresolved("shape not known")
        known = tuple(d if isinstance(d, int) else self.number(d) for d in node.shape)
        if any(d < 1 or d & (d - 1) for d in known):
            raise Unresolved("extent is not a power of two")
        if math.prod(known) > MAX_TILE:
            raise Unresolved("more elements than a tile may have")
        return known

    def _fits(self, operand: Node, shape: tuple[int, ...]) -> bool:
        """False where an operand cannot be broadcast to ``shape``."""
        try:
            own = self._extents(operand)
        except Unresolved:
            return True
        return all(d in (1, e) for d, e in zip(own[::-1], shape[::-1], strict=False))

    def number(self, node: Node) -> int:
        """The value of a scalar that is known at compile time. Raises Unresolved where it is not."""
        if node.op == "const" and isinstance(node.attr, int):
            return int(node.attr)
        if node.op == "param":
            value = self.launch.values.get(node.attr.name, node.attr.default)
            if node.attr.constexpr and isinstance(value, int):
                return value
            raise Unresolved(f"{node.attr.name} not known")
        if node.op in ("min", "max") or node.op in _ARITHMETIC:
            a, b = (self.number(x) for x in node.args)
            results = {
                "add": lambda: a + b,
                "sub": lambda: a - b,
                "mul": lambda: a * b,
                "div": lambda: a // b,
                "mod": lambda: a % b,
                "min": lambda: min(a, b),
                "max": lambda: max(a, b),
                "shl": lambda: a << b,
                "shr": lambda: a >> b,
            }
            if node.op in results and (b or node.op not in ("div", "mod")):
                return int(results[node.op]())
        raise Unresolved(f"{node.op} is not a number")

    def pointee(self, node: Node) -> int | None:
        """Bytes an element of what a pointer points to; None where the node is no pointer."""
        key = id(node)
        if key not in self.pointers:
            self.pointers[key] = None  # a loop-carried name asks for itself
            self.pointers[key] = self._pointee(node)
            self.kept.append(node)
        return self.pointers[key]

    def _pointee(self, node: Node) -> int | None:
        if node.op == "param":
            if node.attr.constexpr or node.attr.name in self.launch.values:
                return None
            pointer = self.launch.pointers.get(node.attr.name)
            if pointer is None and (node.attr.pointer or node.type == "ptr"):
                pointer = self.launch.pointer(node.attr.name)
            return pointer.element_bytes if pointer else None
        if node.op in ("add", "sub", "min", "max"):
            return self.pointee(node.args[0]) or (self.pointee(node.args[1]) if node.op == "add" else None)
        if node.op in ("expand", "broadcast", "trans", "reshape", "hint", "carried"):
            return self.pointee(node.args[0])
        if node.op in ("where", "phi"):
            return self.pointee(node.args[1]) or self.pointee(node.args[2])
        if node.op == "cast" and node.type == "ptr":
            raise Unresolved("pointer cast to another type")
        return None

    # -- hints ------------------------------------------------------------------------------------

    def _collect_hints(self, roots: Iterable[Node]) -> None:
        """A hint marks the operation that made its operand, so that all uses of it see the hint."""
        for node in walk(roots):
            if node.op != "hint":
                continue
            target = node.args[0]
            while target.op == "hint":
                target = target.args[0]
            values = hint_values(node.attr[1], self.number)
            if target.op not in ("param", "const") and values:
                self.hints.setdefault(id(target), {})[node.attr[0]] = values

    def _hinted(self, node: Node, info: Info) -> Info:
        hints = self.hints.get(id(node))
        if not hints:
            return info
        fields = {
            "max_contiguous": info.contiguity,
            "multiple_of": info.divisibility,
            "max_constancy": info.constancy,
        }
        for kind, values in hints.items():
            if len(values) == info.rank:
                fields[kind] = values
        return Info(fields["max_contiguous"], fields["multiple_of"], fields["max_constancy"], info.value)

    # -- the walk ---------------------------------------------------------------------------------

    def info(self, node: Node) -> Info:
        """What is known of a node; scalars have rank 1. Raises Unresolved where a shape is not known."""
        known = self.memo.get(id(node))
        if known is None:
            raw = self._visit(node)
            known = axis_info.finish(self.launch.profile, self._hinted(node, raw))
            self.memo[id(node)] = known
            self.kept.append(node)
        return known

    def lifted(self, node: Node, shape: tuple[int, ...]) -> Info:
        """A node's info after Triton's implicit broadcast to ``shape`` (splat, new leading axes, repeated
        axes)."""
        info, old = self.info(node), self.shape(node)
        if not shape or old == shape:
            return info
        profile = self.launch.profile
        if not old:
            return axis_info.finish(profile, axis_info.splat(info, shape))
        while len(old) < len(shape):
            info, old = axis_info.finish(profile, axis_info.expand(info, 0)), (1, *old)
        return info if old == shape else axis_info.finish(profile, axis_info.broadcast(info, old, shape))

    def _visit(self, node: Node) -> Info:
        op = node.op
        shape = self.shape(node)
        if op in _ARITHMETIC:
            return self._arithmetic(node, shape)
        if op in ("min", "max"):
            a, b = (self.lifted(x, shape) for x in node.args)
            return axis_info.extremum(a, b, min if op == "min" else max, shape)
        if op == "cmp":
            a, b = (self.lifted(x, shape) for x in node.args)
            return axis_info.compare(node.attr, a, b, shape)
        if op in ("hint", "cast"):
            if op == "cast" and ("float" in str(node.attr) or str(node.attr).startswith(("fp", "bf"))):
                return axis_info.unknown(shape)
            return self.info(node.args[0])
        method = getattr(self, f"_{op}", None)
        return method(node, shape) if method is not None else axis_info.unknown(shape)

    def _arithmetic(self, node: Node, shape: tuple[int, ...]) -> Info:
        """``x + y`` and its kin; an addition with a pointer counts the other operand in elements."""
        a, b = node.args
        size = 0
        profile = self.launch.profile
        if node.op in ("add", "sub") and self.pointee(node) is not None:
            size = self.pointee(node) or 0
            if self.pointee(a) is None:
                a, b = b, a
            if node.op == "sub":
                zero = axis_info.constant(0, shape)
                negated = axis_info.finish(
                    profile, binary(profile, "sub", zero, self.lifted(b, shape), shape)
                )
                return binary(profile, "add", self.lifted(a, shape), negated, shape, size)
        return binary(profile, node.op, self.lifted(a, shape), self.lifted(b, shape), shape, size)

    def _const(self, node: Node, shape: tuple[int, ...]) -> Info:
        known = isinstance(node.attr, int)
        return axis_info.constant(int(node.attr), shape) if known else axis_info.unknown(shape)

    def _param(self, node: Node, shape: tuple[int, ...]) -> Info:
        """An argument: the constant 1, divisible by 16, or nothing known (``specialize_impl``)."""
        param = node.attr
        if param.constexpr:
            value = self.launch.values.get(param.name, param.default)
            return axis_info.constant(value, shape) if isinstance(value, int) else axis_info.unknown(shape)
        launch, special = self.launch, getattr(param, "specialize", True)
        aligned = special and param.name not in launch.unaligned
        if param.name in launch.values:
            value = launch.values[param.name]
            if specialized_to_one(value, special and param.name not in launch.variables):
                return axis_info.constant(1, shape)
            return Info((1,), (16 if divisible_by_16(value, aligned) else 1,), (1,))
        pointer = launch.pointer(param.name)
        return Info((1,), (16 if pointer is not None and pointer.divisible and aligned else 1,), (1,))

    def _arange(self, node: Node, shape: tuple[int, ...]) -> Info:
        start, end = (self.number(x) for x in node.args)
        return axis_info.arange(start, end)

    def _expand(self, node: Node, shape: tuple[int, ...]) -> Info:
        if not self.shape(node.args[0]):
            return self.lifted(node.args[0], shape)
        return axis_info.expand(self.info(node.args[0]), node.attr)

    def _broadcast(self, node: Node, shape: tuple[int, ...]) -> Info:
        return self.lifted(node.args[0], shape)

    def _trans(self, node: Node, shape: tuple[int, ...]) -> Info:
        return axis_info.transpose(self.info(node.args[0]), node.attr)

    def _reshape(self, node: Node, shape: tuple[int, ...]) -> Info:
        old = self.shape(node.args[0])
        if not old or not shape:
            return self.lifted(node.args[0], shape) if shape else axis_info.unknown(shape)
        return axis_info.reshape(self.launch.profile, self.info(node.args[0]), old, shape)

    def _neg(self, node: Node, shape: tuple[int, ...]) -> Info:
        zero = axis_info.constant(0, shape)
        return binary(self.launch.profile, "sub", zero, self.info(node.args[0]), shape)

    def _not(self, node: Node, shape: tuple[int, ...]) -> Info:
        ones = axis_info.constant(-1, shape)
        return binary(self.launch.profile, "xor", self.info(node.args[0]), ones, shape)

    def _where(self, node: Node, shape: tuple[int, ...]) -> Info:
        cond, a, b = (self.lifted(x, shape) for x in node.args)
        return axis_info.select(cond, a, b, not shape, self.launch.profile.clamps_divisibility, shape)

    def _phi(self, node: Node, shape: tuple[int, ...]) -> Info:
        a, b = (self.lifted(x, shape) for x in node.args[1:])
        return axis_info.join(a, b)

    def _load(self, node: Node, shape: tuple[int, ...]) -> Info:
        mask = node.args[1] if len(node.args) > 1 and node.args[1].type == "i1" else None
        return axis_info.load(
            self.lifted(node.args[0], shape), self.lifted(mask, shape) if mask is not None else None
        )

    def _loopvar(self, node: Node, shape: tuple[int, ...]) -> Info:
        """A loop's variable (``visitForOpInductionVar``): as divisible as start and step both are."""
        start, step = self.info(node.args[0]), self.info(node.args[2])
        divisor = axis_info.gcd(start.divisibility[0], step.divisibility[0])
        return Info((1,), (divisor,), (1,))

    def _carried(self, node: Node, shape: tuple[int, ...]) -> Info:
        """A name that a loop changes: the join of its first value and of what the body makes of the join."""
        current = self.lifted(node.args[0], shape)
        out = node.attr.out
        if out is None:
            return current
        for _ in range(_ROUNDS):
            saved = self.memo
            self.memo = {**saved, id(node): axis_info.finish(self.launch.profile, current)}
            try:
                body = self.lifted(out, shape)
            finally:
                self.memo = saved
            joined = axis_info.join(current, body)
            if joined == current:
                return current
            current = joined
        return axis_info.unknown(shape)
