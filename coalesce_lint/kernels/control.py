"""Control flow: joining values where it meets, closing loops, the names that statements bind."""

from __future__ import annotations

import ast
from typing import Any

from coalesce_lint.index.nodes import Node, const
from coalesce_lint.kernels.build import Builder
from coalesce_lint.kernels.values import BlockPtr, Desc, Tup, Value
from coalesce_lint.reasons import Reason

#: A condition of which nothing is known.
ANY = const(None)


def join_env(build: Builder, cond: Node, a: dict[str, Value], b: dict[str, Value]) -> dict[str, Value]:
    """The names after an if: a name bound on one side only keeps that value."""
    out = dict(b)
    for name, value in a.items():
        if name not in b:
            out[name] = value
        elif b[name] is not value:
            out[name] = join(build, cond, value, b[name])
    return out


def join(build: Builder, cond: Node, a: Value, b: Value) -> Value:
    """The value that is ``a`` where ``cond`` holds, else ``b``."""
    if a is b:
        return a
    if isinstance(a, Node) and isinstance(b, Node):
        if _is_none(a) and not _is_none(b):
            return b  # code after the branch uses the value only where there is one
        if _is_none(b) and not _is_none(a):
            return a
        return build.choose("phi", cond, a, b)
    if isinstance(a, Tup) and isinstance(b, Tup) and len(a.items) == len(b.items):
        return Tup([join(build, cond, x, y) for x, y in zip(a.items, b.items, strict=True)], a.names)
    if isinstance(a, BlockPtr) and isinstance(b, BlockPtr) and len(a.offsets) == len(b.offsets):
        return BlockPtr(
            join(build, cond, a.base, b.base),
            _all(build, cond, a.shape, b.shape),
            _all(build, cond, a.strides, b.strides),
            _all(build, cond, a.offsets, b.offsets),
            list(a.block),
            a.order if a.order == b.order else None,
            a.place,
        )
    if isinstance(a, Desc) and isinstance(b, Desc) and len(a.strides) == len(b.strides):
        return Desc(
            join(build, cond, a.base, b.base),
            _all(build, cond, a.shape, b.shape),
            _all(build, cond, a.strides, b.strides),
            a.block,
            a.host and b.host,
            a.place,
        )
    # a descriptor that the host passes or the kernel makes: only the made one is known
    if isinstance(a, Desc) and isinstance(b, Node) and b.op == "param":
        return a
    if isinstance(b, Desc) and isinstance(a, Node) and a.op == "param":
        return b
    if isinstance(a, Node) and _is_none(a):
        return b
    if isinstance(b, Node) and _is_none(b):
        return a
    if type(a) is type(b) and a == b:
        return a
    return build.opaque(Reason.MEETING.why, shape=None)


def _is_none(x: Node) -> bool:
    return x.op == "const" and x.attr is None


def _all(build: Builder, cond: Node, a: list[Node], b: list[Node]) -> list[Node]:
    return [join(build, cond, x, y) for x, y in zip(a, b, strict=False)]


def join_returns(build: Builder, returns: list[tuple[int, list[tuple[Node, bool]], Value]]) -> Value:
    """The value of a call: the returns in order, each under the conditions that led to it."""
    if not returns:
        return const(None)
    value = returns[-1][2]
    for _, guards, other in reversed(returns[:-1]):
        value = join(build, conjunction(build, guards), other, value)
    return value


def conjunction(build: Builder, guards: list[tuple[Node, bool]]) -> Node:
    if not guards:
        return ANY
    out: Node | None = None
    for cond, holds in guards:
        c = cond if holds else build.negate(cond)
        out = c if out is None else build.binary("and", out, c)
    assert out is not None
    return out


def close(build: Builder, head: Value, outs: list[Value]) -> None:
    """Tells a loop's carried value what it is at the end of the body (joined over early exits)."""
    if isinstance(head, Node) and head.op == "carried":
        values = [o for o in outs if isinstance(o, Node)]
        if not values or len(values) != len(outs):
            return
        out = values[0]
        for other in values[1:]:
            if other is not out:
                out = build.choose("phi", ANY, out, other)
        head.attr.out = out
    elif isinstance(head, BlockPtr):
        blocks = [o for o in outs if isinstance(o, BlockPtr) and len(o.offsets) == len(head.offsets)]
        if len(blocks) == len(outs) and blocks:
            for k, h in enumerate(head.offsets):
                close(build, h, [b.offsets[k] for b in blocks])
            close(build, head.base, [b.base for b in blocks])
    elif isinstance(head, Desc):
        made = [o for o in outs if isinstance(o, Desc)]
        if len(made) == len(outs) and made:
            close(build, head.base, [d.base for d in made])
    elif isinstance(head, Tup):
        tuples = [o for o in outs if isinstance(o, Tup) and len(o.items) == len(head.items)]
        if len(tuples) == len(outs) and tuples:
            for k, h in enumerate(head.items):
                close(build, h, [t.items[k] for t in tuples])


_cache: dict[int, tuple[Any, list[str]]] = {}


def assigned_names(stmt: Any) -> list[str]:
    """The names that statements under ``stmt`` bind, in order."""
    key = id(stmt)
    if key in _cache and _cache[key][0] is stmt:
        return _cache[key][1]
    names: dict[str, None] = {}
    stack: list[Any] = [stmt.body]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(reversed(node))
        elif isinstance(node, ast.Assign):
            for t in node.targets:
                _targets(t, names)
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
            _targets(node.target, names)
        elif isinstance(node, ast.For):
            _targets(node.target, names)
            stack += [node.body, node.orelse]
        elif isinstance(node, (ast.While, ast.If)):
            stack += [node.body, node.orelse]
        elif isinstance(node, (ast.With, ast.Try)):
            stack.append(node.body)
    if len(_cache) > 4000:
        _cache.clear()
    _cache[key] = (stmt, list(names))
    return _cache[key][1]


def _targets(target: Any, names: dict[str, None]) -> None:
    if isinstance(target, ast.Name):
        names[target.id] = None
    elif isinstance(target, (ast.Tuple, ast.List)):
        for e in target.elts:
            _targets(e, names)
    elif isinstance(target, ast.Starred):
        _targets(target.value, names)
