"""Abstract interpretation of a kernel's body, statement by statement.

Both sides of a branch are read and joined; a loop's body is read once, with the names it changes standing for any
iteration. What is not understood becomes an opaque value with a reason, never an exception.
"""

from __future__ import annotations

import time
from typing import Any

import libcst as cst

from coalesce_lint.access import Call, Place
from coalesce_lint.index.nodes import Carry, Loop, Node, Param, const
from coalesce_lint.kernels import control
from coalesce_lint.kernels.build import Budget, Builder, int_value
from coalesce_lint.kernels.expressions import Expressions
from coalesce_lint.kernels.modules import Resolver
from coalesce_lint.kernels.record import RawSite
from coalesce_lint.kernels.source import Function, Module, Parameter
from coalesce_lint.kernels.values import Arguments, BlockPtr, Desc, Fn, Lambda, Tup, Value

#: Statements read (those of inlined helpers each time) after which the rest of a kernel is given up.
MAX_STATEMENTS = 30_000
#: Seconds after which that happens whatever the count, so that nothing hangs on a slow machine.
TIME_LIMIT = 30.0
MAX_INLINE_DEPTH = 12
_UNROLL = 16


class Frame:
    """One function being read: its names and what it returned so far."""

    def __init__(self, function: Function, env: dict[str, Value]) -> None:
        self.function = function
        self.env = env
        self.returns: list[tuple[int, list[tuple[Node, bool]], Value]] = []
        self.guard_base = 0


class LoopFrame:
    """One loop being read: the states in which an iteration ended early."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.exits: list[dict[str, Value]] = []


class Interpreter(Expressions):
    """Reads one kernel and collects its accesses in ``sites``."""

    def __init__(self, kernel: Function, resolver: Resolver, pins: dict[str, Any] | None = None) -> None:
        self.kernel = kernel
        self.resolver = resolver
        self.pins = pins or {}
        self.build = Builder()
        self.sites: list[RawSite] = []
        self.guards: list[tuple[Node, bool]] = []
        self.assumed: list[Node] = []
        self.loops: list[LoopFrame] = []
        self.chain: list[Call] = []
        self.frames: list[Frame] = []
        self.spent: str | None = None
        self.inlined: set[Function] = set()
        self.dead_sites: list[RawSite] = []  #: accesses of helpers in branches that are dead for this kernel
        self.in_dead = False
        self.sources: dict[str, Module] = {kernel.module.path: kernel.module}
        self.deadline = time.monotonic() + TIME_LIMIT
        self.lambda_depth = 0
        self.statements = 0
        self.global_symbols, self.elements, self.unknown_tiles = {}, {}, {}

    # -- entry -----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Reads the kernel with its parameters unknown or pinned."""
        env: dict[str, Value] = {}
        for index, p in enumerate(self.kernel.parameters):
            env[p.name] = self.parameter(p, index)
        frame = Frame(self.kernel, env)
        self.frames.append(frame)
        try:
            self.block(self.kernel.tree.body.body)
        except Budget:
            self.spent = "kernel too large"
        except RecursionError:
            self.spent = "expression nested too deeply"
        self.frames.pop()

    def parameter(self, p: Parameter, index: int) -> Value:
        """The value of a kernel parameter."""
        if p.name in self.pins and isinstance(self.pins[p.name], (bool, int, float, str, type(None))):
            return const(self.pins[p.name])
        pointer = True if p.name in self.pins or "pointer" in p.annotation or p.annotation.startswith("'*") else None
        constexpr = "constexpr" in p.annotation
        name = p.name
        special = index not in self.kernel.do_not_specialize and name not in self.kernel.do_not_specialize
        attr = Param(name, constexpr, None, False if constexpr else pointer, index, special)
        return Node("param", (), attr, (), None, None, constexpr)

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    @property
    def env(self) -> dict[str, Value]:
        return self.frames[-1].env

    # -- statements ------------------------------------------------------------------------------------------------

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
            return self.block(_suite(stmt.body))
        if isinstance(stmt, cst.FunctionDef):
            names = [p.name.value for p in stmt.params.params]
            self.env[stmt.name.value] = Lambda(names, stmt.body, self.env)
            return None
        if isinstance(stmt, cst.Try):
            return self.block(_suite(stmt.body))
        return None

    def block_small(self, body: Any) -> str | None:
        for small in body:
            flow = self.small(small)
            if flow:
                return flow
        return None

    def small(self, s: Any) -> str | None:
        if isinstance(s, cst.Assign):
            value = self.expr(s.value)
            for target in s.targets:
                self.assign(target.target, value)
        elif isinstance(s, cst.AugAssign):
            op = _AUGMENTED.get(type(s.operator))
            old = self.expr(s.target)
            new = self.expr(s.value)
            self.assign(s.target, self.binary_values(op, old, new) if op else self.build.opaque("operator"))
        elif isinstance(s, cst.AnnAssign):
            if s.value is not None:
                self.assign(s.target, self.expr(s.value))
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

    def unpack(self, value: Value, elements: Any) -> list[Value]:
        """The items of a value that is assigned to a tuple of names."""
        count = len(elements)
        if isinstance(value, Tup):
            star = next((k for k, e in enumerate(elements) if isinstance(e, cst.StarredElement)), None)
            if star is None:
                missing = [self.build.opaque("unpacked value", shape=None) for _ in range(count - len(value.items))]
                return [*value.items[:count], *missing]
            after = count - star - 1
            end = len(value.items) - after
            return [*value.items[:star], Tup(value.items[star:end]), *value.items[end:]]
        if isinstance(value, Node) and value.op == "param":
            return [self.element(value, k) for k in range(count)]
        if isinstance(value, Node) and value.op == "opaque":
            return [self.build.opaque(value.attr, *value.args, shape=value.shape) for _ in range(count)]
        return [self.build.opaque("unpacked value", shape=None) for _ in range(count)]

    # -- branches --------------------------------------------------------------------------------------------------

    def branch(self, stmt: cst.If) -> str | None:
        cond = self.condition(self.expr(stmt.test))
        if cond.op == "const" and cond.attr is not None:
            if len(self.frames) > 1 and not self.in_dead:
                self.read_dead(stmt, bool(cond.attr))
            if cond.attr:
                return self.block(_suite(stmt.body))
            return self.orelse(stmt.orelse)
        before = self.env
        mark = len(self.guards)

        self.frame.env = dict(before)
        self.guards.append((cond, True))
        flow_true = self.block(_suite(stmt.body))
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
        """Reads the branch of a helper that this caller does not take: its accesses are judged with the caller's
        values where no other caller reaches them."""
        before, live, mark, returned = self.env, self.sites, len(self.guards), list(self.frame.returns)
        self.frame.env = dict(before)
        self.sites, self.in_dead = self.dead_sites, True
        try:
            if taken:
                self.orelse(stmt.orelse)
            else:
                self.block(_suite(stmt.body))
        finally:
            self.sites, self.in_dead = live, False
            self.frame.env, self.frame.returns = before, returned
            del self.guards[mark:]

    def orelse(self, orelse: Any) -> str | None:
        if orelse is None:
            return None
        if isinstance(orelse, cst.If):
            return self.branch(orelse)
        return self.block(_suite(orelse.body))

    # -- loops -----------------------------------------------------------------------------------------------------

    def for_loop(self, stmt: cst.For) -> str | None:
        bounds: Any = None
        if isinstance(stmt.iter, cst.Call):
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
                flow = self.block(_suite(stmt.body))
                del self.guards[mark:]
                if flow == "return":
                    return flow
                if flow == "break":
                    break
            return None
        name = stmt.target.value if isinstance(stmt.target, cst.Name) else ""
        loop = Loop(name, len(self.loops), self.line_of(stmt))
        if not isinstance(bounds, tuple):
            variable: Value = self.build.opaque("loop over an unknown value")
        else:
            start, stop, step = bounds
            variable = self.build.make("loopvar", (start, stop, step), loop)
        self.loop_body(stmt, loop, variable, None)
        return None

    def line_of(self, stmt: Any) -> int:
        at = self.frame.function.places.get(id(stmt))
        return at[0] if at else self.frame.function.line

    def while_loop(self, stmt: cst.While) -> str | None:
        loop = Loop("", len(self.loops), self.line_of(stmt))
        self.loop_body(stmt, loop, None, stmt.test)
        return None

    def loop_body(self, stmt: Any, loop: Loop, variable: Value | None, test: Any) -> None:
        body = _suite(stmt.body)
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
        flow = self.block(body)
        self.loops.pop()
        del self.guards[mark:]
        ends = frame.exits + ([] if flow in ("return", "continue", "break") else [self.env])
        for name, head in heads:
            outs = [e[name] for e in ends if name in e]
            control.close(self.build, head, outs)
            self.env[name] = head
        if stmt.orelse is not None:
            self.block(_suite(stmt.orelse.body))

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
        if isinstance(value, Tup):
            return Tup([self.carry(v, name, loop) or v for v in value.items], value.names)
        return None

    # -- calls of other kernels ------------------------------------------------------------------------------------

    def inline(self, fn: Function, args: Arguments, place: Place | None) -> Value:
        """Reads the body of a called function with its parameters bound."""
        depth = sum(f.function is fn for f in self.frames)
        if len(self.frames) > MAX_INLINE_DEPTH or depth > 1:
            return self.build.opaque(f"calls nested too deeply ({fn.name})", shape=None)
        try:
            body = fn.tree.body.body
        except cst.ParserSyntaxError:
            return self.build.opaque(f"{fn.name} cannot be parsed", shape=None)
        self.inlined.add(fn)
        self.sources.setdefault(fn.module.path, fn.module)
        env = self.bind(fn, args)
        frame = Frame(fn, env)
        frame.guard_base = len(self.guards)
        where = place or Place(self.frame.function.module.path, 0, 0)
        self.chain.append(Call(self.frame.function.name, where))
        self.frames.append(frame)
        loops, self.loops = self.loops, list(self.loops)
        try:
            self.block(body)
        finally:
            self.frames.pop()
            self.chain.pop()
            self.loops = loops
            del self.guards[frame.guard_base :]
        return control.join_returns(self.build, frame.returns)

    def bind(self, fn: Function, args: Arguments) -> dict[str, Value]:
        env: dict[str, Value] = {}
        position = 0
        for p in fn.parameters:
            if p.variadic:
                env[p.name] = Tup(args.positional[position:])
                position = len(args.positional)
            elif p.name in args.keywords:
                env[p.name] = args.keywords[p.name]
            elif position < len(args.positional):
                env[p.name] = args.positional[position]
                position += 1
            elif p.default is not None:
                env[p.name] = self.constant_expr(p.default, fn.module)
            else:
                env[p.name] = self.build.opaque(f"argument {p.name} not known", shape=None)
        return env

    def loop_depth(self) -> int:
        return len(self.loops)


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


def _suite(suite: Any) -> Any:
    """The statements of a suite, also of one on the same line (``if x: return``)."""
    if isinstance(suite, cst.SimpleStatementSuite):
        return [cst.SimpleStatementLine(body=suite.body)]
    return suite.body


__all__ = ["Desc", "Fn", "Interpreter", "int_value"]
