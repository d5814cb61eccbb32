"""Branches and loops of a kernel that is followed: what variables hold behind them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from coalesce_lint.verify.variant.forms import Form, Leaf
from coalesce_lint.verify.variant.operators import truth
from coalesce_lint.verify.variant.scope import (
    Accumulator,
    BlockPointer,
    Broken,
    Joined,
    Scope,
    count_assignments,
    increments,
)
from coalesce_lint.verify.variant.values import roots_of, runtime, same, within

if TYPE_CHECKING:
    from coalesce_lint.verify.variant.follow import Follower


def branch(
    follower: Follower, scope: Scope, node: ast.If, test: Any, body: list[ast.stmt], orelse: list[ast.stmt]
) -> None:
    taken = truth(test)
    if taken is not None and not runtime(test):
        follower.block(scope, body if taken else orelse)
        return
    before = dict(scope.env)
    current = {a: a.current for a in scope.accumulators.values()}
    scope.doubt += 1
    follower.block(scope, body)
    first, scope.env = scope.env, dict(before)
    for accumulator, leaf in current.items():
        accumulator.current = leaf
    follower.block(scope, orelse)
    scope.doubt -= 1
    second = scope.env
    if taken is not None:
        scope.env = first if taken else second
        return
    scope.env = before
    for name in {**first, **second}:
        a, b = first.get(name), second.get(name)
        scope.env[name] = a if same(a, b) else joined(follower, scope, name, node, [a, b])


def joined(follower: Follower, scope: Scope, name: str, node: ast.stmt, values: list[Any]) -> Any:
    """A variable that may hold one of several values from here on."""
    accumulator = scope.accumulators.get(name)
    if accumulator is not None:
        return accumulator.renew()
    roots = frozenset(r for v in values for r in roots_of(v))
    if roots:
        return Broken(roots, f"{name} is chosen by a branch")
    if scope.assigned.get(name) == 1:
        return Form.of(Leaf(scope, name, None, None))
    return Form.of(Leaf(scope, None, Joined("after", node, name), None))


def for_loop(follower: Follower, scope: Scope, node: ast.For) -> None:
    follower.value(scope, node.iter)
    enter(follower, scope, node)
    for name in [n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)]:
        once = scope.assigned.get(name) == 1
        where = None if once else Joined("start", node, name)
        scope.env[name] = Form.of(Leaf(scope, name if once else None, where, 0))
    scope.doubt += 1
    follower.block(scope, node.body)
    scope.doubt -= 1
    leave(follower, scope, node)
    follower.block(scope, node.orelse)


def while_loop(
    follower: Follower, scope: Scope, node: ast.While, test: ast.expr, body: list[ast.stmt]
) -> None:
    enter(follower, scope, node)
    follower.value(scope, test)
    scope.doubt += 1
    follower.block(scope, body)
    scope.doubt -= 1
    leave(follower, scope, node)


def enter(follower: Follower, scope: Scope, node: ast.For | ast.While) -> None:
    """Sets the variables that a loop changes to what they are at the start of any of its rounds."""
    adds = increments(node)
    for name in count_assignments(node):
        old = scope.env.get(name)
        if old is None or isinstance(old, BlockPointer):
            continue
        known = scope.accumulators.get(name)
        if known is not None and within(node, known.loop):
            scope.env[name] = known.renew()
        elif name in adds and isinstance(old, Form):
            accumulator = Accumulator(scope, name, node, old)
            scope.accumulators[name] = accumulator
            scope.env[name] = accumulator.renew()
        elif roots_of(old):
            scope.env[name] = Broken(frozenset(roots_of(old)), f"{name} changes in a loop")
        else:
            scope.env[name] = Form.of(Leaf(scope, None, Joined("start", node, name), None))


def leave(follower: Follower, scope: Scope, node: ast.For | ast.While) -> None:
    """After a loop: its variables hold what the last round left, or what they held before."""
    for name in count_assignments(node):
        value = scope.env.get(name)
        if value is None or isinstance(value, BlockPointer):
            continue
        scope.env[name] = joined(follower, scope, name, node, [value])
