"""What asserts and guards of host code say about tensors."""

from __future__ import annotations

import ast
import itertools
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING

from coalesce_lint.launches import arms
from coalesce_lint.launches.modules import dotted
from coalesce_lint.launches.torch_args import integer
from coalesce_lint.launches.values import (
    Each,
    Facts,
    Items,
    Number,
    ShapeOf,
    Star,
    StrideOf,
    StridesOf,
    Tensor,
    Test,
    Value,
)

if TYPE_CHECKING:
    from coalesce_lint.launches.expressions import Evaluator

_COMPARE: dict[type, Callable[[int, int], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def learn(ev: Evaluator, test: ast.expr, holds: bool) -> None:
    """Adds to the evaluator's state what it means that ``test`` is true (``holds``) or false."""
    arms.settle(ev, test, holds)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        learn(ev, test.operand, not holds)
    elif isinstance(test, ast.BoolOp):
        # of a conjunction that fails, or a disjunction that holds, it is not known which part does
        if isinstance(test.op, ast.And) == holds:
            for value in test.values:
                learn(ev, value, holds)
    elif isinstance(test, ast.Compare):
        _comparison(ev, test, holds)
    elif isinstance(test, ast.Call):
        _called(ev, test, holds)
    elif isinstance(test, ast.NamedExpr):
        learn(ev, test.value, holds)
    elif isinstance(test, ast.Name):
        _held(ev, ev.state.names.get(test.id), holds)


def _held(ev: Evaluator, held: Value | None, holds: bool) -> None:
    """Learns from a condition that was given a name, or that a function returned."""
    if isinstance(held, Test):
        names = ev.state.names
        ev.state.names = dict(held.names)
        learn(ev, held.node, holds)
        ev.state.names = names


def _called(ev: Evaluator, test: ast.Call, holds: bool) -> None:
    func = test.func
    if isinstance(func, ast.Attribute) and func.attr == "is_contiguous":
        if holds and not any(k.arg == "memory_format" for k in test.keywords) and not test.args:
            for t in _tensors(ev.expr(func.value)):
                why = f"is_contiguous() in line {test.lineno}"
                ev.state.learn(t, Facts(contiguous=why))
    elif isinstance(func, ast.Name) and func.id == "all":
        if holds and test.args:
            _each(ev, test.args[0])
    elif dotted(func):
        _held(ev, ev.expr(test), holds)  # assert is_row_major(x)


def _tensors(value: Value) -> list[Tensor]:
    return [value] if isinstance(value, Tensor) else []


def _each(ev: Evaluator, node: ast.expr) -> None:
    """``all(x.is_contiguous() for x in (a, b))``."""
    if isinstance(node, (ast.List, ast.Tuple)):
        for part in node.elts:
            learn(ev, part, True)
        return
    if not isinstance(node, (ast.GeneratorExp, ast.ListComp)) or len(node.generators) != 1:
        return
    loop = node.generators[0]
    guards = [g for g in loop.ifs if not (isinstance(g, ast.Compare) and isinstance(g.ops[0], ast.IsNot))]
    source = ev.expr(loop.iter)
    if guards or not isinstance(source, Items):
        return
    names = ev.state.names
    for element in source.items:
        if not isinstance(element, (Star, Each)):
            ev.state.names = dict(names)
            ev.bind(loop.target, element)
            learn(ev, node.elt, True)
    ev.state.names = names


def _comparison(ev: Evaluator, test: ast.Compare, holds: bool) -> None:
    if len(test.ops) > 1 and not holds:
        return
    if len(test.ops) > 1 and all(isinstance(op, ast.Eq) for op in test.ops):
        # a == b == c: what is known of any of them holds for all
        members = [test.left, *test.comparators]
        for a, b in itertools.permutations(members, 2):
            _equal(ev, a, b, test.lineno)
        return
    left = test.left
    for op, right in zip(test.ops, test.comparators, strict=True):
        equal = (isinstance(op, ast.Eq) and holds) or (isinstance(op, ast.NotEq) and not holds)
        if equal:
            _equal(ev, left, right, test.lineno)
        elif isinstance(op, ast.In) and holds:
            pass
        left = right


def _equal(ev: Evaluator, a: ast.expr, b: ast.expr, line: int) -> None:
    """``a == b`` holds."""
    for one, other in ((a, b), (b, a)):
        number = integer(ev.expr(other))
        if number is not None:
            t = _ranked(ev, one)
            if t is not None:
                ev.state.learn(t, Facts(rank=number))
                return
            value = ev.expr(one)
            if isinstance(value, StrideOf) and number == 1:
                ev.state.learn(value.tensor, Facts(unit={value.dim: f"compared with 1 in line {line}"}))
                return
    left, right = ev.expr(a), ev.expr(b)
    if isinstance(left, ShapeOf) and isinstance(right, ShapeOf):
        _same_shape(ev, left.tensor, right.tensor)
    elif isinstance(left, ShapeOf) or isinstance(right, ShapeOf):
        shape, other_value = (left, right) if isinstance(left, ShapeOf) else (right, left)
        length = ev.length(other_value)
        if isinstance(shape, ShapeOf) and length is not None:
            ev.state.learn(shape.tensor, Facts(rank=length))
    elif isinstance(left, StrideOf) and isinstance(right, StrideOf):
        _same_strides(ev, left.tensor, right.tensor)
    elif isinstance(left, StridesOf) and isinstance(right, StridesOf):
        _same_strides(ev, left.tensor, right.tensor)
        _same_shape(ev, left.tensor, right.tensor)
        for t, like in ((left.tensor, right.tensor), (right.tensor, left.tensor)):
            known = ev.questions().facts(like)
            ev.state.learn(t, Facts(known.contiguous, known.unit, known.rank))


def _same_strides(ev: Evaluator, a: Tensor, b: Tensor) -> None:
    """The host compares strides of both: which of them is passed makes no difference."""
    for one, other in ((a, b), (b, a)):
        ev.state.learn(one, Facts(strided=frozenset((other.number,))))


def _same_shape(ev: Evaluator, a: Tensor, b: Tensor) -> None:
    questions = ev.questions()
    for one, other in ((a, b), (b, a)):
        rank = questions.rank(other)
        ev.state.learn(one, Facts(rank=rank, shaped=frozenset((other.number,))))


def _ranked(ev: Evaluator, node: ast.expr) -> Tensor | None:
    """The tensor whose number of dimensions ``node`` is: ``x.ndim``, ``x.dim()``, ``len(x.shape)``."""
    if isinstance(node, ast.Attribute) and node.attr == "ndim":
        return _one(ev.expr(node.value))
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("dim", "ndimension") and not node.args:
            return _one(ev.expr(node.func.value))
        if isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1:
            value = ev.expr(node.args[0])
            if isinstance(value, (ShapeOf, StridesOf)):
                return value.tensor
    return None


def _one(value: Value) -> Tensor | None:
    return value if isinstance(value, Tensor) else None


def decided(ev: Evaluator, test: ast.expr) -> bool | None:
    """Whether ``test`` is true where that is certain; None where it is not."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = decided(ev, test.operand)
        return None if inner is None else not inner
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.BoolOp):
        parts = [decided(ev, v) for v in test.values]
        short = isinstance(test.op, ast.Or)
        if short in parts:
            return short
        return None if None in parts else not short
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute):
        if test.func.attr == "is_contiguous" and not test.args and not test.keywords:
            t = _one(ev.expr(test.func.value))
            return True if t is not None and ev.questions().contiguous(t) else None
        return None
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _decided_comparison(ev, test.left, test.ops[0], test.comparators[0])
    return None


def _decided_comparison(ev: Evaluator, left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool | None:
    if isinstance(op, (ast.Is, ast.IsNot)) and isinstance(right, ast.Constant) and right.value is None:
        value = ev.expr(left)
        if isinstance(value, Number):
            return (value.value is None) == isinstance(op, ast.Is)
        sure = isinstance(value, Tensor) and value.origin in ("fresh", "copy")
        return isinstance(op, ast.IsNot) if sure else None
    apply = _COMPARE.get(type(op))
    if apply is None:
        return None
    a, b = _number(ev, left), _number(ev, right)
    return apply(a, b) if a is not None and b is not None else None


def _number(ev: Evaluator, node: ast.expr) -> int | None:
    t = _ranked(ev, node)
    if t is not None:
        return ev.questions().rank(t)
    value = ev.expr(node)
    if isinstance(value, StrideOf):
        found = ev.questions().under(value.known).stride(value.tensor, value.dim)
        return 1 if found.one and found.basis == "proved" else None
    return integer(value)
