"""What the expressions of a kernel hold: sums where they are sums, else leaves named after the expression."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from coalesce_lint.verify.variant.calls import call
from coalesce_lint.verify.variant.forms import Form, Number
from coalesce_lint.verify.variant.operators import (
    binary,
    boolean,
    choice,
    compare,
    number,
    opaque,
    truth,
    unary,
)
from coalesce_lint.verify.variant.scope import Broken, Plain, Scope, Several

if TYPE_CHECKING:
    from coalesce_lint.verify.variant.follow import Follower


def value(follower: Follower, scope: Scope, node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=bool() | None | str() | float() as constant):
            return Plain(constant)
        case ast.Constant(value=int(constant)):
            return Form(const=Number(constant))
        case ast.Name(id=name):
            return scope.env[name] if name in scope.env else global_value(scope, name)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return Several([value(follower, scope, e) for e in elements])
        case ast.UnaryOp(op=op, operand=operand):
            return unary(scope, node, op, value(follower, scope, operand))
        case ast.BinOp(left=left, op=op, right=right):
            return binary(scope, node, op, value(follower, scope, left), value(follower, scope, right))
        case ast.Compare(left=left, ops=ops, comparators=others):
            values = [value(follower, scope, n) for n in (left, *others)]
            return compare(scope, node, ops, values)
        case ast.BoolOp(op=op, values=nodes):
            return boolean(scope, node, op, [value(follower, scope, n) for n in nodes])
        case ast.IfExp(test=test, body=body, orelse=orelse):
            chosen = truth(value(follower, scope, test))
            a, b = value(follower, scope, body), value(follower, scope, orelse)
            if chosen is not None:
                return a if chosen else b
            return choice(scope, node, [a, b])
        case ast.Subscript(value=base, slice=index):
            return subscript(follower, scope, node, value(follower, scope, base), index)
        case ast.Attribute(value=base, attr=name):
            return attribute(follower, scope, node, base, name)
        case ast.Call():
            return call(follower, scope, node)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            value(follower, scope, child)
    return opaque(scope, node, None)


def global_value(scope: Scope, name: str) -> Any:
    spec = scope.globals.get(name)
    if spec is None:
        return Plain(("name", name))
    if spec["kind"] == "value":
        found = spec["value"]
        if isinstance(found, int) and not isinstance(found, bool):
            return Form(const=Number(found))
        return Plain(found)
    if spec["kind"] == "function":
        return Plain(("function", spec["id"]))
    return Plain(("name", name))


def subscript(follower: Follower, scope: Scope, node: ast.Subscript, base: Any, index: ast.expr) -> Any:
    if isinstance(base, Several):
        at = number(value(follower, scope, index))
        if at is not None and -len(base.values) <= at.value < len(base.values):
            return base.values[at.value]
        return choice(scope, node, base.values)
    if isinstance(base, (Form, Broken)):
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        plain_view = all(
            (isinstance(p, ast.Slice) and p.lower is None and p.upper is None and p.step is None)
            or (isinstance(p, ast.Constant) and p.value is None)
            for p in parts
        )
        if plain_view and isinstance(base, Form):
            return base.through("{}[" + ", ".join(ast.unparse(p) for p in parts) + "]")
        if isinstance(base, Broken):
            return base
    value(follower, scope, index) if not isinstance(index, ast.Slice) else None
    return opaque(scope, node, None)


def attribute(follower: Follower, scope: Scope, node: ast.Attribute, base: ast.expr, name: str) -> Any:
    owner = value(follower, scope, base)
    if isinstance(owner, Plain) and isinstance(owner.value, tuple):
        dotted = ast.unparse(node)
        known = scope.globals.get(dotted)
        if known is not None and known["kind"] == "value" and isinstance(known["value"], int):
            return global_value(scope, dotted)
        if known is not None and known["kind"] == "function":
            return Plain(("function", known["id"]))
        return (
            Plain(f"tl.{name}") if dotted.startswith(("tl.", "triton.language.")) else Plain(("name", dotted))
        )
    if name == "value":  # of a constexpr
        return owner
    if name == "T" and isinstance(owner, Form):
        return owner.through("tl.trans({})")
    return opaque(scope, node, None)
