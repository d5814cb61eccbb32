"""Reads a host function statement by statement; branches are read apart and joined."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from coalesce_lint.launches import arms, conditions
from coalesce_lint.launches.modules import HostFunction, dotted, is_kernel
from coalesce_lint.launches.records import nested_name
from coalesce_lint.launches.values import (
    NOTHING,
    Each,
    Items,
    Known,
    Reference,
    Star,
    State,
    Table,
    Tensor,
    Test,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from coalesce_lint.launches.expressions import Evaluator


def bind_parameters(
    ev: Evaluator, fn: HostFunction, args: Sequence[Value] = (), kw: Mapping[str, Value] | None = None
) -> None:
    """Binds the parameters of ``fn`` to arguments, or to tensors of which nothing is known."""
    node, names = fn.node.args, ev.state.names
    plain = [*node.posonlyargs, *node.args]
    starred = any(isinstance(a, Star) for a in args)
    given = dict(kw or {})
    for k, a in enumerate([*plain, *node.kwonlyargs]):
        if k < len(plain) and k < len(args) and not starred:
            names[a.arg] = args[k]
        elif a.arg in given:
            names[a.arg] = given[a.arg]
        else:
            default = _default(fn, k)
            if kw is not None and not starred and isinstance(default, ast.Constant):
                names[a.arg] = ev.expr(default)
            else:
                names[a.arg] = ev.given(a.arg, fn.node.lineno, parameter=a.arg)
    if node.vararg is not None:
        rest = tuple(args[len(plain) :]) if kw is not None and not starred else ()
        names[node.vararg.arg] = Items(rest) if rest else Unknown("*args")
    if node.kwarg is not None:
        taken = {a.arg for a in fn.parameters}
        rest_kw = {n: v for n, v in given.items() if n not in taken}
        names[node.kwarg.arg] = Table(rest_kw, complete=kw is not None)


def _default(fn: HostFunction, k: int) -> ast.expr | None:
    node = fn.node.args
    plain = [*node.posonlyargs, *node.args]
    if k >= len(plain):
        return node.kw_defaults[k - len(plain)]
    at = k - (len(plain) - len(node.defaults))
    return node.defaults[at] if at >= 0 else None


def block(ev: Evaluator, body: Iterable[ast.stmt]) -> None:
    """Reads statements until control leaves them."""
    for stmt in body:
        if ev.state.ended:
            return
        _statement(ev, stmt)


def _statement(ev: Evaluator, stmt: ast.stmt) -> None:
    match stmt:
        case ast.Assign(targets=targets, value=node):
            value = ev.expr(node)
            for target in targets:
                ev.bind(target, value)
        case ast.AnnAssign(target=target, value=ast.expr() as node):
            ev.bind(target, ev.expr(node))
        case ast.AugAssign(target=target):
            value = ev.expr(ast.copy_location(ast.BinOp(_loaded(target), stmt.op, stmt.value), stmt))
            if not isinstance(ev.expr(_loaded(target)), Tensor) or not isinstance(target, ast.Name):
                ev.bind(target, value)
            arms.changed(ev, dotted(target))
        case ast.Expr(value=node):
            _checked(ev, node)
            ev.expr(node)
        case ast.Return(value=node):
            ev.returns.append((ev.expr(node) if node is not None else Unknown(), ev.state.known))
            ev.state.ended = True
        case ast.Raise() | ast.Break() | ast.Continue():
            ev.state.ended = True
        case ast.Assert(test=test):
            _asserted(ev, test)
            ev.expr(test)
        case ast.If():
            _if(ev, stmt)
        case ast.For() | ast.AsyncFor() | ast.While():
            _loop(ev, stmt)
        case ast.With() | ast.AsyncWith():
            for item in stmt.items:
                value = ev.expr(item.context_expr)
                if item.optional_vars is not None:
                    ev.bind(item.optional_vars, value)
            block(ev, stmt.body)
        case ast.Try():
            _try(ev, stmt)
        case ast.Match():
            ev.expr(stmt.subject)
            before = ev.state
            branches(ev, [*(partial(block, ev, case.body) for case in stmt.cases), lambda: None], before)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            _nested(ev, stmt)
        case ast.Delete(targets=targets):
            for target in targets:
                path = dotted(target)
                ev.state.names.pop(path, None)


def _loaded(target: ast.expr) -> ast.expr:
    """The target of an augmented assignment as an expression."""
    return target


def _checked(ev: Evaluator, node: ast.expr) -> None:
    """``torch._check(condition)``."""
    if isinstance(node, ast.Call) and dotted(node.func).endswith(("torch._check", "_assert")) and node.args:
        _asserted(ev, node.args[0])


def _asserted(ev: Evaluator, test: ast.expr, holds: bool = True) -> None:
    """Learns from an assertion; that it was made is kept also where it stands in a branch."""
    before = ev.state.known
    conditions.learn(ev, test, holds)
    for number, facts in ev.state.known.items():
        if facts.unit and facts is not before.get(number):
            ev.claimed[number] = facts.both(ev.claimed.get(number, NOTHING))


def branches(
    ev: Evaluator, parts: Sequence[Callable[[], None]], before: State, by: Test | None = None
) -> None:
    """Reads each of ``parts`` from the state ``before`` and joins what they leave.

    Of two parts the first is taken where ``by`` holds.
    """
    ends: list[State] = []
    made: Known = {}
    for part in parts:
        first, launches, asked = ev.fresh_number(), len(ev.launches), dict(ev.asked)
        ev.state = before.copy()
        part()
        ends.append(ev.state)
        if ev.state.ended and not ev.trail:
            _left(ev, launches, asked)
        made = {**made, **_of_made(ev.state, first)}
    state = ends[0]
    for other in ends[1:]:
        state = joined(ev, state, other, by)
    state.known = {**made, **state.known}
    ev.state = state


def _left(ev: Evaluator, launches: int, asked: dict[int, int]) -> None:
    """A branch that leaves the function: the dimensions that it asked for say nothing of the other paths."""
    for raw in ev.launches[launches:]:
        if raw.asked is None:
            raw.asked = dict(ev.asked)
    ev.asked.clear()
    ev.asked.update(asked)


def _of_made(state: State, first: int) -> Known:
    """What a branch knows of the tensors that it made itself: where they exist it was taken."""
    own = [
        v.number
        for v in state.names.values()
        if isinstance(v, Tensor) and v.number > first and v.origin in ("fresh", "copy", "like")
    ]
    return {n: state.known[n] for n in own if n in state.known}


def _if(ev: Evaluator, stmt: ast.If) -> None:
    certain = conditions.decided(ev, stmt.test)
    ev.expr(stmt.test)
    if certain is not None:
        block(ev, stmt.body if certain else stmt.orelse)
        return

    by = arms.condition(ev, stmt.test)
    refused = isinstance(stmt.body[-1], ast.Raise) and not stmt.orelse

    def arm(holds: bool, body: list[ast.stmt]) -> None:
        if refused and not holds:
            _asserted(ev, stmt.test, holds)
        else:
            conditions.learn(ev, stmt.test, holds)
        block(ev, body)

    branches(ev, [lambda: arm(True, stmt.body), lambda: arm(False, stmt.orelse)], ev.state, by)


def joined(ev: Evaluator, a: State, b: State, by: Test | None = None) -> State:
    """The state where two branches meet; ``a`` is that of the branch where ``by`` holds."""
    if a.ended or b.ended:
        return b if a.ended else a
    known: Known = {n: f.either(b.known[n]) for n, f in a.known.items() if n in b.known}
    names: dict[str, Value] = dict(b.names)
    for name, one in a.names.items():
        other = b.names.get(name, one)
        names[name] = one if one is other else _either(ev, one, a.known, other, b.known)
        arms.chosen(ev, names[name], (one, other), by)
    return State(names, known)


def _either(ev: Evaluator, one: Value, one_known: Known, other: Value, other_known: Known) -> Value:
    from coalesce_lint.launches.inlining import joined_returns

    if one == other:
        return one
    return joined_returns(ev, [(one, one_known), (other, other_known)])


def _loop(ev: Evaluator, stmt: ast.For | ast.AsyncFor | ast.While) -> None:
    """A loop's body is read once, with what it assigns taken as unknown at its head."""
    assigned = assigned_names(stmt.body)
    before = ev.state.copy()
    if not isinstance(stmt, ast.While):
        source = ev.expr(stmt.iter)
        element = source.element if isinstance(source, Each) else None
        if isinstance(source, Items) and source.items and not isinstance(source.items[0], Star):
            element = source.items[0] if len(source.items) == 1 else ev.choice(source.items)
    else:
        ev.expr(stmt.test)
        element = None
    for name in assigned:
        held = ev.state.names.get(name)
        if held is not None:
            ev.state.names[name] = ev.given(name, stmt.lineno)
            ev.forget(name)
    if not isinstance(stmt, ast.While):
        ev.bind(stmt.target, element if element is not None else ev.given(ev.text(stmt.target), stmt.lineno))
    block(ev, stmt.body)
    ev.state.ended = False
    ev.state = joined(ev, before, ev.state)
    block(ev, stmt.orelse)


def assigned_names(body: Iterable[ast.stmt]) -> set[str]:
    """The names that statements assign, at any depth."""
    out = set()
    for stmt in body:
        for node in ast.walk(stmt):
            if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, (ast.Store, ast.Del)):
                out.add(dotted(node))
    out.discard("")
    return out


def _try(ev: Evaluator, stmt: ast.Try) -> None:
    before = ev.state.copy()
    block(ev, stmt.body)
    block(ev, stmt.orelse)
    after = ev.state
    for handler in stmt.handlers:
        ev.state = before.copy()
        block(ev, handler.body)
        after = joined(ev, after, ev.state)
    ev.state = after
    if stmt.finalbody:
        ended, ev.state.ended = ev.state.ended, False
        block(ev, stmt.finalbody)
        ev.state.ended = ev.state.ended or ended


def _nested(ev: Evaluator, stmt: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """A function inside a function: read where it stands, with the names around it."""
    if isinstance(stmt, ast.FunctionDef) and is_kernel(stmt):
        ev.state.names.pop(stmt.name, None)
        nested = nested_name(stmt.name, stmt.lineno)
        if nested in ev.module.kernels:
            ev.state.names[stmt.name] = Reference(nested)
        return
    inner = next((f for f in ev.module.all_functions if f.node is stmt), None)
    if inner is None or ev.trail:
        return
    before, fn, returns = ev.state, ev.fn, ev.returns
    ev.state, ev.fn, ev.returns = before.copy(), inner, []
    bind_parameters(ev, inner)
    block(ev, stmt.body)
    ev.state, ev.fn, ev.returns = before, fn, returns
    ev.state.names.pop(stmt.name, None)
