"""Which arm of a choice between two tensors was taken, where its condition is tested once more.

``y = a if c else b`` and later ``if c: return``: behind it ``y`` is ``b``. The choice stays one object, so
that strides that were asked of it before are its own; the arm is a fact of the point of the program.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from coalesce_lint.launches.modules import dotted
from coalesce_lint.launches.values import Facts, Tensor, Test, Value

if TYPE_CHECKING:
    from coalesce_lint.launches.expressions import Evaluator

#: What may give another value the next time although no name in it was assigned.
_CHANGING = (ast.Call, ast.Subscript, ast.Await, ast.NamedExpr, ast.Yield, ast.YieldFrom)


def condition(ev: Evaluator, test: ast.expr) -> Test | None:
    """``test`` with what its names hold here; None where it may change without an assignment."""
    if any(isinstance(n, _CHANGING) for n in ast.walk(test)):
        return None
    for node in ast.walk(test):
        if isinstance(node, ast.Name):
            ev.expr(node)  # a name of which nothing is known is given its tensor when it is first seen
    return Test(test, {path: ev.state.names[path] for path in _paths(test) if path in ev.state.names})


def chosen(ev: Evaluator, value: Value, of: tuple[Value, Value], by: Test | None) -> None:
    """Notes that ``value``, where it is the choice ``of`` two tensors, is the first where ``by`` holds."""
    if by is None or not isinstance(value, Tensor):
        return
    if len(value.arms) == 2 and all(t is v for (t, _), v in zip(value.arms, of, strict=True)):
        ev.chosen.setdefault(_key(ev, by.node), []).append((value, by))


def settle(ev: Evaluator, test: ast.expr, holds: bool) -> None:
    """Learns which arm choices by ``test`` took, from ``test`` being true (``holds``) or false."""
    if not ev.chosen:
        return
    for tensor, by in ev.chosen.get(_key(ev, test), ()):
        if all(ev.state.names.get(path) is by.names.get(path) for path in _paths(test)):
            ev.state.learn(tensor, Facts(arm=0 if holds else 1))


def changed(ev: Evaluator, path: str) -> None:
    """``path`` is changed in place: conditions on it say nothing of choices that were made before."""
    for key, made in ev.chosen.items():
        ev.chosen[key] = [(t, by) for t, by in made if path not in _paths(by.node)]


def _key(ev: Evaluator, test: ast.expr) -> tuple[int, str]:
    return id(ev.fn), ast.dump(test)


def _paths(test: ast.expr) -> set[str]:
    return {dotted(n) for n in ast.walk(test) if isinstance(n, (ast.Name, ast.Attribute))} - {""}
