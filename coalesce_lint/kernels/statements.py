"""Statements: assignments, branches (both sides are read and joined), and what the author promises."""

from __future__ import annotations

import time
from typing import Any

import libcst as cst

from coalesce_lint.index.nodes import Node, const, runtime
from coalesce_lint.kernels import control
from coalesce_lint.kernels.build import Budget
from coalesce_lint.kernels.expressions import Expressions
from coalesce_lint.kernels.loops import Loops
from coalesce_lint.kernels.record import RawSite
from coalesce_lint.kernels.values import Lambda, Tup, Value
from coalesce_lint.reasons import Reason

#: Statements read (those of inlined helpers each time) after which the rest of a kernel is given up.
MAX_STATEMENTS = 30_000
_AUGMENTED = {
    cst.AddAssign: "add",
    cst.SubtractAssign: "sub",
    cst.MultiplyAssign: "mul",
    cst.FloorDivideAssign: "div",
    cst.ModuloAssign: "mod",
    cst.DivideAssign: "truediv",
    cst.BitAndAssign: "and",
    cst.BitOrAssign: "or",
    cst.BitXorAssign: "xor",
    cst.LeftShiftAssign: "shl",
    cst.RightShiftAssign: "shr",
    cst.PowerAssign: "pow",
    cst.MatrixMultiplyAssign: "truediv",
}


def _is_constexpr(annotation: Any) -> bool:
    """``tl.constexpr`` in any spelling, also as a string."""
    while isinstance(annotation, cst.Subscript):
        annotation = annotation.value
    if isinstance(annotation, cst.SimpleString):
        return "constexpr" in annotation.value
    name = annotation.attr if isinstance(annotation, cst.Attribute) else annotation
    return isinstance(name, cst.Name) and name.value == "constexpr"


class Statements(Expressions, Loops):
    """Reads statements one after another."""

    deadline: float
    statements: int
    #: Accesses of helpers in branches that are dead for this kernel.
    dead_sites: list[RawSite]
    in_dead: bool

    def block(self, body: Any) -> str | None:
        """Reads statements; returns how control leaves them ("return", "break", "continue") or None."""
        for stmt in body:
            self.statements += 1
            if self.statements > MAX_STATEMENTS or time.monotonic() > self.deadline:
                raise Budget
            flow = self.statement(stmt)
            if flow:
                return flow
        return None

    def statement(self, stmt: Any) -> str | None:
        if isinstance(stmt, cst.SimpleStatementLine):
            return self.block_small(stmt.body)
        if isinstance(stmt, cst.If):
            return self.branch(stmt)
        if isinstance(stmt, cst.For):
            return self.for_loop(stmt)
        if isinstance(stmt, cst.While):
            return self.while_loop(stmt)
        if isinstance(stmt, cst.With):
            for item in stmt.items:
                self.expr(item.item)
            return self.block(control.suite(stmt.body))
        if isinstance(stmt, cst.FunctionDef):
            names = [p.name.value for p in stmt.params.params]
            self.env[stmt.name.value] = Lambda(names, stmt.body, self.env)
            return None
        if isinstance(stmt, cst.Match):
            before = self.env
            for case in stmt.cases:  # Triton has no match; which case is taken is not known
                self.frame.env = dict(before)
                self.block(control.suite(case.body))
                before = control.join_env(self.build, control.ANY, self.frame.env, before)
            self.frame.env = before
            return None
        if isinstance(stmt, cst.Try):
            return self.block(control.suite(stmt.body))
        return None

    def block_small(self, body: Any) -> str | None:
        for small in body:
            flow = self.small(small)
            if flow:
                return flow
        return None

    def small(self, s: Any) -> str | None:
        if isinstance(s, cst.Assign):
            value = self.assigned(self.expr(s.value))
            for target in s.targets:
                self.assign(target.target, value)
        elif isinstance(s, cst.AugAssign):
            op = _AUGMENTED.get(type(s.operator))
            old = self.expr(s.target)
            new = self.expr(s.value)
            value = self.binary_values(op, old, new) if op else self.build.opaque(Reason.OPERATOR.why)
            self.assign(s.target, self.assigned(value))
        elif isinstance(s, cst.AnnAssign):
            if s.value is not None:
                value = self.expr(s.value)
                fixed = _is_constexpr(s.annotation.annotation)
                self.assign(s.target, value if fixed else self.assigned(value))
        elif isinstance(s, cst.Expr):
            self.expr(s.value)
        elif isinstance(s, cst.Return):
            value = self.expr(s.value) if s.value is not None else const(None)
            held = self.guards[self.frame.guard_base :]
            self.frame.returns.append((len(self.loops), list(held), value))
            return "return"
        elif isinstance(s, cst.Assert):
            self.assume(s.test)
        elif isinstance(s, (cst.Break, cst.Continue)):
            if self.loops:
                self.loops[-1].exits.append(dict(self.env))
            return "break" if isinstance(s, cst.Break) else "continue"
        elif isinstance(s, cst.Del):
            pass
        return None

    def assigned(self, value: Value) -> Value:
        """A value as a name holds it: numbers become runtime values, but in functions that Triton evaluates
        at compile time.
        """
        if self.frame.function.static:
            return value
        if isinstance(value, Tup):
            return Tup([self.assigned(v) for v in value.items], value.names)
        if not isinstance(value, Node) or (value.op == "const" and isinstance(value.attr, (str, type(None)))):
            return value
        return runtime(value)

    def assume(self, test: Any) -> None:
        """A condition the author promises; its comparisons say nothing about what is a size."""
        self.build.assuming += 1
        try:
            value = self.expr(test)
        finally:
            self.build.assuming -= 1
        if isinstance(value, Node) and value.op != "const":
            self.assumed.append(value)

    def assign(self, target: Any, value: Value) -> None:
        if isinstance(target, cst.Name):
            self.env[target.value] = value
        elif isinstance(target, (cst.Tuple, cst.List)):
            for element, item in zip(target.elements, self.unpack(value, target.elements), strict=False):
                inner = element.value
                self.assign(inner, item)
        elif isinstance(target, cst.Subscript) and isinstance(target.value, cst.Name):
            self.env[target.value.value] = self.build.opaque(Reason.ITEM_ASSIGNMENT.why, shape=None)

    def unpack(self, value: Value, elements: Any) -> list[Value]:
        """The items of a value that is assigned to a tuple of names."""
        count = len(elements)
        if isinstance(value, Tup):
            star = next((k for k, e in enumerate(elements) if isinstance(e, cst.StarredElement)), None)
            if star is None:
                missing = [
                    self.build.opaque(Reason.UNPACKED.why, shape=None)
                    for _ in range(count - len(value.items))
                ]
                return [*value.items[:count], *missing]
            after = count - star - 1
            end = len(value.items) - after
            return [*value.items[:star], Tup(value.items[star:end]), *value.items[end:]]
        if isinstance(value, Node) and value.op == "param":
            return [self.element(value, k) for k in range(count)]
        if isinstance(value, Node) and value.op == "opaque":
            return [self.build.opaque(value.attr, *value.args, shape=value.shape) for _ in range(count)]
        return [self.build.opaque(Reason.UNPACKED.why, shape=None) for _ in range(count)]

    def branch(self, stmt: cst.If) -> str | None:
        cond = self.condition(self.expr(stmt.test))
        if cond.op == "const" and cond.attr is not None:
            if len(self.frames) > 1 and not self.in_dead:
                self.read_dead(stmt, bool(cond.attr))
            if cond.attr:
                return self.block(control.suite(stmt.body))
            return self.orelse(stmt.orelse)
        before = self.env
        mark = len(self.guards)

        self.frame.env = dict(before)
        self.guards.append((cond, True))
        flow_true = self.block(control.suite(stmt.body))
        env_true = self.frame.env
        del self.guards[mark:]

        self.frame.env = dict(before)
        self.guards.append((cond, False))
        flow_false = self.orelse(stmt.orelse)
        env_false = self.frame.env
        del self.guards[mark:]

        if flow_true and flow_false:
            self.frame.env = env_true
            return flow_true if flow_true == flow_false else "return"
        if flow_true:
            self.frame.env = env_false
            self.guards.append((cond, False))
        elif flow_false:
            self.frame.env = env_true
            self.guards.append((cond, True))
        else:
            self.frame.env = control.join_env(self.build, cond, env_true, env_false)
        return None

    def read_dead(self, stmt: cst.If, taken: bool) -> None:
        """Reads the branch of a helper that this caller does not take: its accesses are judged with the
        caller's values where no other caller reaches them.
        """
        before, live, mark, returned = self.env, self.sites, len(self.guards), list(self.frame.returns)
        self.frame.env = dict(before)
        self.sites, self.in_dead = self.dead_sites, True
        try:
            if taken:
                self.orelse(stmt.orelse)
            else:
                self.block(control.suite(stmt.body))
        finally:
            self.sites, self.in_dead = live, False
            self.frame.env, self.frame.returns = before, returned
            del self.guards[mark:]

    def orelse(self, orelse: Any) -> str | None:
        if orelse is None:
            return None
        if isinstance(orelse, cst.If):
            return self.branch(orelse)
        return self.block(control.suite(orelse.body))
