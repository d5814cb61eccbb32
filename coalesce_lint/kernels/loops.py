"""Loops: a body is read once, with the names it changes standing for any iteration.

A loop over a tuple of the kernel is unrolled.
"""

from __future__ import annotations

import ast
from typing import Any

from coalesce_lint.index.nodes import Carry, Loop, Node
from coalesce_lint.kernels import control
from coalesce_lint.kernels.reading import LoopFrame, Reading
from coalesce_lint.kernels.values import BlockPtr, Desc, Tup, Value
from coalesce_lint.reasons import Reason

_UNROLL = 16


class Loops(Reading):
    """Reads ``for`` and ``while``."""

    def for_loop(self, stmt: ast.For) -> str | None:
        bounds: Any = None
        if isinstance(stmt.iter, ast.Call):
            bounds = self.range_bounds(stmt.iter)
            if bounds is None:
                items = self.expr(stmt.iter)
                bounds = items if isinstance(items, Tup) else None
        else:
            bounds = self.expr(stmt.iter)
        if isinstance(bounds, Tup):
            for item in bounds.items[:_UNROLL]:
                self.assign(stmt.target, item)
                mark = len(self.guards)
                flow = self.block(stmt.body)
                del self.guards[mark:]
                if flow == "return":
                    return flow
                if flow == "break":
                    return None
            return self.block(stmt.orelse)
        name = stmt.target.id if isinstance(stmt.target, ast.Name) else ""
        loop = Loop(name, len(self.loops), stmt.lineno)
        if not isinstance(bounds, tuple):
            variable: Value = self.build.opaque(Reason.LOOP_VALUES.why)
        else:
            start, stop, step = loop.bounds = bounds
            variable = self.build.make("loopvar", (start, stop, step), loop)
        self.loop_body(stmt, loop, variable, None)
        return None

    def while_loop(self, stmt: ast.While) -> str | None:
        loop = Loop("", len(self.loops), stmt.lineno)
        self.loop_body(stmt, loop, None, stmt.test)
        return None

    def loop_body(self, stmt: Any, loop: Loop, variable: Value | None, test: Any) -> None:
        heads: list[tuple[str, Value]] = []
        for name in control.assigned_names(stmt):
            if name in self.env:
                head = self.carry(self.env[name], name, loop)
                if head is not None:
                    self.env[name] = head
                    heads.append((name, head))
        if variable is not None:
            self.assign(stmt.target, variable)
        mark = len(self.guards)
        if test is not None:
            cond = self.condition(self.expr(test))
            if cond.op != "const":
                self.guards.append((cond, True))
        frame = LoopFrame(loop)
        self.loops.append(frame)
        flow = self.block(stmt.body)
        self.loops.pop()
        del self.guards[mark:]
        ends = frame.exits + ([] if flow in ("return", "continue", "break") else [self.env])
        for name, head in heads:
            outs = [e[name] for e in ends if name in e]
            control.close(self.build, head, outs)
            self.env[name] = head
        self.block(stmt.orelse)

    def carry(self, value: Value, name: str, loop: Loop) -> Value | None:
        """The value of a name at the head of a loop that changes it; None where it need not be followed."""
        if isinstance(value, Node):
            if value.op == "const" and (value.attr is None or isinstance(value.attr, str)):
                return None
            return self.build.make("carried", (value,), Carry(name, loop), value.shape, value.type)
        if isinstance(value, BlockPtr):
            offsets = [self.carry(o, name, loop) or o for o in value.offsets]
            base = self.carry(value.base, name, loop) or value.base
            return BlockPtr(base, value.shape, value.strides, offsets, value.block, value.order, value.place)
        if isinstance(value, Desc):
            base = self.carry(value.base, name, loop) or value.base
            return Desc(base, value.shape, value.strides, value.block, value.host, value.place)
        if isinstance(value, Tup):
            return Tup([self.carry(v, name, loop) or v for v in value.items], value.names)
        return None
