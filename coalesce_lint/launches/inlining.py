"""Functions of the tree read where they are called, with their parameters bound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from coalesce_lint.launches.modules import HostFunction
from coalesce_lint.launches.values import Items, Known, Number, State, Table, Tensor, Unknown, Value

if TYPE_CHECKING:
    from coalesce_lint.launches.expressions import Evaluator

#: Functions that are read in place so deep and, for one host function, so often.
INLINE_DEPTH = 3
INLINE_BUDGET = 80
#: Longer functions are not read in place (statements at their level).
INLINE_LENGTH = 60


def inlined(
    ev: Evaluator,
    fn: HostFunction,
    args: tuple[Value, ...],
    kw: Mapping[str, Value],
    text: str,
    line: int,
) -> Value:
    """Reads a called function with its parameters bound: what it returns, and what it proves of arguments."""
    from coalesce_lint.launches import walk

    long = (fn.node.end_lineno or fn.node.lineno) - fn.node.lineno > INLINE_LENGTH
    if len(ev.trail) >= INLINE_DEPTH or ev.budget <= 0 or long or any(f is fn for f in ev.trail):
        return ev.given(text, line)
    ev.budget -= 1
    before, outer_fn, outer_module = ev.state, ev.fn, ev.module
    outer_launches, outer_returns = ev.launches, ev.returns
    ev.trail.append(fn)
    ev.fn, ev.module, ev.launches, ev.returns = fn, fn.module, [], []
    ev.state = State(known=before.known)
    try:
        walk.bind_parameters(ev, fn, args, kw)
        walk.block(ev, fn.node.body)
        returns = ev.returns
        if not ev.state.ended:
            returns = [*returns, (Number(None), ev.state.known)]
        known = _common(before.known, [k for _, k in returns])
    finally:
        ev.trail.pop()
        ev.fn, ev.module, ev.launches, ev.returns = outer_fn, outer_module, outer_launches, outer_returns
        ev.state = before
    ev.state.known = known
    values = [(v, k) for v, k in returns if not (isinstance(v, Number) and v.value is None)]
    if not values:
        return Unknown("a function without a value")
    if len(values) == 1:
        return values[0][0]
    return joined_returns(ev, values)


def joined_returns(ev: Evaluator, values: list[tuple[Value, Known]]) -> Value:
    first = values[0][0]
    if all(v is first for v, _ in values):
        return first
    if all(isinstance(v, Tensor) for v, _ in values):
        return ev.joined([(v, k) for v, k in values if isinstance(v, Tensor)])
    if all(isinstance(v, Items) for v, _ in values):
        lengths = {ev.length(v) for v, _ in values}
        count = lengths.pop()
        if not lengths and count is not None:
            columns = [(ev.elements(v, None) or (), k) for v, k in values]
            return Items(tuple(
                joined_returns(ev, [(c[n], k) for c, k in columns]) for n in range(count)
            ))  # fmt: skip
    if all(isinstance(v, Table) for v, _ in values):
        return _joined_tables(ev, [(v, k) for v, k in values if isinstance(v, Table)])
    return ev.choice(tuple(v for v, _ in values))


def _joined_tables(ev: Evaluator, tables: list[tuple[Table, Known]]) -> Value:
    """A dict after branches: keys that only one of them sets may be missing."""
    keys = dict.fromkeys(k for t, _ in tables for k in t.items)
    items = {}
    for key in keys:
        found = [(t.items[key], known) for t, known in tables if key in t.items]
        items[key] = (
            found[0][0] if len(set(map(id, (v for v, _ in found)))) == 1 else joined_returns(ev, found)
        )
    return Table(items, all(t.complete for t, _ in tables))


def _common(before: Known, after: list[Known]) -> Known:
    """What is known after a call however it returned."""
    if not after:
        return before
    out = dict(after[0])
    for known in after[1:]:
        out = {n: f.either(known[n]) for n, f in out.items() if n in known}
    return {**before, **out}
