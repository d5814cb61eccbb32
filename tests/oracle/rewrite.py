"""Rewrites the source of a jitted function so that plain Python runs it as Triton's front end would read it.

What changes: every call notes where it stands in the source; assigned numbers become runtime scalars (only
``: tl.constexpr`` keeps them Python numbers); ``and``, ``or``, ``not`` work on tiles; annotations and asserts
are dropped.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from .dtypes import OracleUnsupported, int1
from .language import constexpr, device_range, nothing, python_maximum, python_minimum
from .memory import machine
from .values import Tile, tile


def call(position: tuple[str, int, int], function: Any, *args: Any, **kwargs: Any) -> Any:
    state = machine()
    state.step()
    state.position = position
    return function(*args, **kwargs)


def assigned(value: Any) -> Any:
    """What a name holds after ``name = value``: numbers become runtime scalars, tuples element by element."""
    if isinstance(value, (bool, int, float)):
        return tile(value)
    if isinstance(value, (tuple, list)):
        items = [assigned(v) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value


def bool_operation(name: str, *operands: Any) -> Any:
    """``and``/``or``: a constexpr decides by itself or drops out, runtime values combine lane by lane."""
    runtime: list[Tile] = []
    value = None
    for operand in operands:
        value = operand()
        if isinstance(value, Tile):
            runtime.append(value)
        elif bool(value) is (name == "or"):
            return value
    if not runtime:
        return value
    result = Tile(runtime[0].data != 0, int1)
    for other in runtime[1:]:
        combine = np.logical_and if name == "and" else np.logical_or
        result = Tile(combine(result.data, other.data != 0), int1)
    return result if len(runtime) > 1 else runtime[0]


def logical_not(value: Any) -> Any:
    return Tile(value.data == 0, int1) if isinstance(value, Tile) else not value


def is_instance(value: Any, kind: Any) -> bool:
    if kind is constexpr:
        return not isinstance(value, Tile)
    return isinstance(value, kind)


def guard(condition: Any) -> bool:
    machine().step()
    return bool(condition)


def branch(position: tuple[str, int, int], condition: Any) -> bool:
    """The condition of an ``if``; notes which way it went."""
    holds = bool(condition)
    machine().taken.add((position, holds))
    return holds


#: Names that rewritten functions find among their globals.
RUNTIME: dict[str, Any] = {
    "__call__": call,
    "__assigned__": assigned,
    "__bool_operation__": bool_operation,
    "__constexpr__": constexpr,
    "__branch__": branch,
    "__guard__": guard,
    "__not__": logical_not,
    "range": device_range,
    "min": python_minimum,
    "max": python_maximum,
    "print": nothing,
    "isinstance": is_instance,
}


def _name(name: str) -> ast.Name:
    return ast.Name(id=name, ctx=ast.Load())


def _invoke(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(func=_name(name), args=list(args), keywords=[])


def is_constexpr_annotation(annotation: ast.expr | None) -> bool:
    return annotation is not None and "constexpr" in ast.unparse(annotation)


class Rewriter(ast.NodeTransformer):
    """One per function. ``static`` leaves assigned numbers alone (for ``triton.constexpr_function``)."""

    def __init__(self, path: str, static: bool = False) -> None:
        self.path = path
        self.static = static

    def function(self, node: ast.FunctionDef) -> ast.FunctionDef:
        arguments = node.args
        for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
            argument.annotation = None
        arguments.defaults = [self.visit(d) for d in arguments.defaults]
        body: list[ast.stmt] = []
        for statement in node.body:
            visited = self.visit(statement)
            body += visited if isinstance(visited, list) else [visited]
        rewritten = ast.FunctionDef(
            name=node.name, args=arguments, body=body, decorator_list=[], returns=None, type_comment=None
        )
        if hasattr(node, "type_params"):
            rewritten.type_params = []
        return ast.fix_missing_locations(ast.copy_location(rewritten, node))

    def _position(self, node: ast.expr | ast.stmt) -> ast.expr:
        place = (self.path, node.lineno, node.col_offset)
        return ast.Tuple(elts=[ast.Constant(part) for part in place], ctx=ast.Load())

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        return ast.Call(
            func=_name("__call__"),
            args=[self._position(node), node.func, *node.args],
            keywords=node.keywords,
        )

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        node.test = _invoke("__branch__", self._position(node), node.test)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        node.test = _invoke("__branch__", self._position(node), node.test)
        return node

    def _value(self, node: ast.expr) -> ast.expr:
        return node if self.static else _invoke("__assigned__", node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if any(not isinstance(t, (ast.Name, ast.Tuple, ast.List)) for t in node.targets):
            raise OracleUnsupported("assignment to anything but names")
        self.generic_visit(node)
        node.value = self._value(node.value)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return ast.Pass()
        value = self.visit(node.value)
        fixed = is_constexpr_annotation(node.annotation)
        return ast.Assign(
            targets=[node.target], value=_invoke("__constexpr__", value) if fixed else self._value(value)
        )

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if not isinstance(node.target, ast.Name):
            raise OracleUnsupported("assignment to anything but names")
        value = ast.BinOp(left=_name(node.target.id), op=node.op, right=self.visit(node.value))
        return ast.Assign(targets=[node.target], value=self._value(value))

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.generic_visit(node)
        if node.value is not None:
            node.value = self._value(node.value)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        none = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        name = "and" if isinstance(node.op, ast.And) else "or"
        operands = [ast.Lambda(args=none, body=value) for value in node.values]
        return _invoke("__bool_operation__", ast.Constant(name), *operands)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return _invoke("__not__", node.operand) if isinstance(node.op, ast.Not) else node

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        node.test = _invoke("__guard__", node.test)
        return node

    def visit_Assert(self, _node: ast.Assert) -> ast.AST:
        return ast.Pass()

    def visit_With(self, node: ast.With) -> ast.AST | list[ast.stmt]:
        """The body alone: a ``with`` in a kernel marks a region (a scope, a warp group)."""
        if any(item.optional_vars is not None for item in node.items):
            return self._refuse(node)
        self.generic_visit(node)
        return node.body

    def _refuse(self, node: ast.AST) -> ast.AST:
        raise OracleUnsupported(f"{type(node).__name__} in a kernel")

    visit_Import = _refuse
    visit_ImportFrom = _refuse
    visit_FunctionDef = _refuse
    visit_ClassDef = _refuse
    visit_Try = _refuse
    visit_Lambda = _refuse
