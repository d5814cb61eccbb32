"""Statements: assignments, branches (both sides are read and joined), and what the author promises."""

from __future__ import annotations

import ast
import time
from typing import Any

from coalesce_lint.index.nodes import Node, const, runtime
from coalesce_lint.kernels import control
from coalesce_lint.kernels.build import Budget
from coalesce_lint.kernels.expressions import Expressions, parameter_names
from coalesce_lint.kernels.loops import Loops
from coalesce_lint.kernels.operators import BINARY
from coalesce_lint.kernels.record import RawSite
from coalesce_lint.kernels.values import Lambda, Tup, Value
from coalesce_lint.reasons import Reason

#: Statements read (those of inlined helpers each time) after which the rest of a kernel is given up.
MAX_STATEMENTS = 30_000


def _is_constexpr(annotation: Any) -> bool:
    """``tl.constexpr`` in any spelling, also as a string."""
    while isinstance(annotation, ast.Subscript):
        annotation = annotation.value
    if isinstance(annotation, ast.Constant):
        return "constexpr" in str(annotation.value)
    name = annotation.attr if isinstance(annotation, ast.Attribute) else getattr(annotation, "id", "")
    return name == "constexpr"


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
            if self.statements > MAX_STATEMENTS or time.thread_time() > self.deadline:
                raise Budget
            flow = self.statement(stmt)
            if flow:
                return flow
        return None

    def statement(self, stmt: ast.stmt) -> str | None:
        reader = _STATEMENTS.get(type(stmt))
        return reader(self, stmt) if reader is not None else None

    def assignment(self, stmt: ast.Assign) -> None:
        value = self.assigned(self.expr(stmt.value))
        for target in stmt.targets:
            self.assign(target, value)

    def augmented(self, stmt: ast.AugAssign) -> None:
        old = self.expr(stmt.target)
        value = self.binary_values(BINARY[type(stmt.op)], old, self.expr(stmt.value))
        self.assign(stmt.target, self.assigned(value))

    def annotated(self, stmt: ast.AnnAssign) -> None:
        if stmt.value is not None:
            value = self.expr(stmt.value)
            fixed = _is_constexpr(stmt.annotation)
            self.assign(stmt.target, value if fixed else self.assigned(value))

    def expression(self, stmt: ast.Expr) -> None:
        self.expr(stmt.value)

    def returned(self, stmt: ast.Return) -> str:
        value = self.expr(stmt.value) if stmt.value is not None else const(None)
        held = self.guards[self.frame.guard_base :]
        self.frame.returns.append((len(self.loops), list(held), value))
        return "return"

    def leave(self, stmt: ast.Break | ast.Continue) -> str:
        if self.loops:
            self.loops[-1].exits.append(dict(self.env))
        return "break" if isinstance(stmt, ast.Break) else "continue"

    def with_block(self, stmt: ast.With) -> str | None:
        for item in stmt.items:
            self.expr(item.context_expr)
        return self.block(stmt.body)

    def nested_function(self, stmt: ast.FunctionDef) -> None:
        self.env[stmt.name] = Lambda(parameter_names(stmt), stmt.body, self.env)

    def match(self, stmt: ast.Match) -> None:
        before = self.env
        for case in stmt.cases:  # Triton has no match; which case is taken is not known
            self.frame.env = dict(before)
            self.block(case.body)
            before = control.join_env(self.build, control.ANY, self.frame.env, before)
        self.frame.env = before

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
        if isinstance(target, ast.Name):
            self.env[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            for element, item in zip(target.elts, self.unpack(value, target.elts), strict=False):
                self.assign(element.value if isinstance(element, ast.Starred) else element, item)
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            self.env[target.value.id] = self.build.opaque(Reason.ITEM_ASSIGNMENT.why, shape=None)

    def unpack(self, value: Value, elements: Any) -> list[Value]:
        """The items of a value that is assigned to a tuple of names."""
        count = len(elements)
        if isinstance(value, Tup):
            star = next((k for k, e in enumerate(elements) if isinstance(e, ast.Starred)), None)
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

    def branch(self, stmt: ast.If) -> str | None:
        cond = self.condition(self.expr(stmt.test))
        if cond.op == "const" and cond.attr is not None:
            if len(self.frames) > 1 and not self.in_dead:
                self.read_dead(stmt, bool(cond.attr))
            if cond.attr:
                return self.block(stmt.body)
            return self.block(stmt.orelse)
        before = self.env
        mark = len(self.guards)

        self.frame.env = dict(before)
        self.guards.append((cond, True))
        flow_true = self.block(stmt.body)
        env_true = self.frame.env
        del self.guards[mark:]

        self.frame.env = dict(before)
        self.guards.append((cond, False))
        flow_false = self.block(stmt.orelse)
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

    def read_dead(self, stmt: ast.If, taken: bool) -> None:
        """Reads the branch of a helper that this caller does not take: its accesses are judged with the
        caller's values where no other caller reaches them.
        """
        before, live, mark, returned = self.env, self.sites, len(self.guards), list(self.frame.returns)
        self.frame.env = dict(before)
        self.sites, self.in_dead = self.dead_sites, True
        try:
            if taken:
                self.block(stmt.orelse)
            else:
                self.block(stmt.body)
        finally:
            self.sites, self.in_dead = live, False
            self.frame.env, self.frame.returns = before, returned
            del self.guards[mark:]


_STATEMENTS: dict[type, Any] = {
    ast.Assign: Statements.assignment,
    ast.AugAssign: Statements.augmented,
    ast.AnnAssign: Statements.annotated,
    ast.Expr: Statements.expression,
    ast.Return: Statements.returned,
    ast.Assert: lambda self, stmt: self.assume(stmt.test),
    ast.Break: Statements.leave,
    ast.Continue: Statements.leave,
    ast.If: Statements.branch,
    ast.For: Statements.for_loop,
    ast.While: Statements.while_loop,
    ast.With: Statements.with_block,
    ast.FunctionDef: Statements.nested_function,
    ast.Match: Statements.match,
    ast.Try: lambda self, stmt: self.block(stmt.body),
}
