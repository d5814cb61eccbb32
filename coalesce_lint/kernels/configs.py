"""The configurations of ``@triton.autotune``, as far as the file says them in plain expressions.

Read with a small evaluator of literals, list comprehensions over literals, names of the module and
functions that do nothing but return such a list. Nothing is run.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from coalesce_lint.kernels.jit import dotted
from coalesce_lint.kernels.source import Function, Module

#: Configurations read of one kernel, and steps of evaluation spent on it; real lists are far shorter.
MOST = 256
_STEPS = 20_000


@dataclass(frozen=True)
class Config:
    """One ``triton.Config``: constexpr values by parameter name, and warps a program."""

    values: dict[str, Any] = field(default_factory=dict)
    num_warps: int = 4


class _NotPlain(Exception):
    """An expression that is not made of what is understood here."""


def configs_of(fn: Function) -> list[Config]:
    """The configurations of a kernel in order, [] where there are none or they are not plain.

    Configurations that are not plain are left out; so the list may be a part of them.
    """
    for decorator in fn.node.decorator_list:
        if isinstance(decorator, ast.Call) and "autotune" in dotted(decorator.func):
            given = [k.value for k in decorator.keywords if k.arg == "configs"] or decorator.args[:1]
            if given:
                try:
                    found = _Reader(fn.module).value(given[0], {})
                except (_NotPlain, RecursionError):
                    return []
                if isinstance(found, list):
                    return [c for c in found if isinstance(c, Config)][:MOST]
    return []


class _Reader:
    """Evaluates plain expressions of one module; ``env`` holds the names of comprehensions and functions."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.steps = 0
        self.depth = 0

    def value(self, node: ast.expr, env: dict[str, Any]) -> Any:
        self.steps += 1
        if self.steps > _STEPS:
            raise _NotPlain
        method = getattr(self, "_" + type(node).__name__.lower(), None)
        if method is None:
            raise _NotPlain
        return method(node, env)

    def _constant(self, node: ast.Constant, env: dict[str, Any]) -> Any:
        return node.value

    def _name(self, node: ast.Name, env: dict[str, Any]) -> Any:
        if node.id in env:
            return env[node.id]
        if node.id in self.module.constants:
            return self.value(self.module.constants[node.id], {})
        raise _NotPlain

    def _list(self, node: ast.List | ast.Tuple, env: dict[str, Any]) -> list[Any]:
        found: list[Any] = []
        for element in node.elts:
            try:
                if isinstance(element, ast.Starred):
                    found += self.value(element.value, env)
                else:
                    found.append(self.value(element, env))
            except (_NotPlain, TypeError):
                found.append(None)  # one configuration of many: the others count
        return found

    _tuple = _list

    def _dict(self, node: ast.Dict, env: dict[str, Any]) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                found.update(self.value(value, env))
            else:
                try:
                    found[self.value(key, env)] = self.value(value, env)
                except _NotPlain:
                    continue
        return found

    def _binop(self, node: ast.BinOp, env: dict[str, Any]) -> Any:
        a, b = self.value(node.left, env), self.value(node.right, env)
        try:
            match node.op:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult() if isinstance(a, int) and isinstance(b, int):
                    return a * b
                case ast.FloorDiv():
                    return a // b
                case ast.Pow() if a in (2, 10) and b in range(64):
                    return a**b
        except (TypeError, ZeroDivisionError):
            pass
        raise _NotPlain

    def _ifexp(self, node: ast.IfExp, env: dict[str, Any]) -> Any:
        try:
            chosen = node.body if self.value(node.test, env) else node.orelse
        except _NotPlain:
            chosen = node.body  # what the host decides: either is a real configuration
        return self.value(chosen, env)

    def _compare(self, node: ast.Compare, env: dict[str, Any]) -> bool:
        left = self.value(node.left, env)
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.value(right_node, env)
            try:
                match op:
                    case ast.Lt():
                        holds = left < right
                    case ast.LtE():
                        holds = left <= right
                    case ast.Gt():
                        holds = left > right
                    case ast.GtE():
                        holds = left >= right
                    case ast.Eq():
                        holds = left == right
                    case ast.NotEq():
                        holds = left != right
                    case _:
                        raise _NotPlain
            except TypeError:
                raise _NotPlain from None
            if not holds:
                return False
            left = right
        return True

    def _listcomp(self, node: ast.ListComp | ast.GeneratorExp, env: dict[str, Any]) -> list[Any]:
        found = []
        for names in self._rows(node.generators, env):
            try:
                found.append(self.value(node.elt, names))
            except (_NotPlain, TypeError):
                continue
            if len(found) >= MOST:
                break
        return found

    _generatorexp = _listcomp

    def _rows(self, generators: list[ast.comprehension], env: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if not generators:
            yield env
            return
        first, *rest = generators
        for item in self.value(first.iter, env):
            names = dict(env)
            if isinstance(first.target, ast.Name):
                names[first.target.id] = item
            elif isinstance(first.target, ast.Tuple) and isinstance(item, (list, tuple)):
                targets = [t.id for t in first.target.elts if isinstance(t, ast.Name)]
                names.update(zip(targets, item, strict=False))
            else:
                raise _NotPlain
            if all(self._holds(test, names) for test in first.ifs):
                yield from self._rows(rest, names)

    def _holds(self, test: ast.expr, env: dict[str, Any]) -> bool:
        try:
            return bool(self.value(test, env))
        except _NotPlain:
            return True

    def _call(self, node: ast.Call, env: dict[str, Any]) -> Any:
        name = dotted(node.func).rpartition(".")[2]
        if name == "Config":
            return self._config(node, env)
        arguments = [self.value(a, env) for a in node.args]
        if name == "range" and all(isinstance(a, int) for a in arguments) and 1 <= len(arguments) <= 3:
            return list(itertools.islice(range(*arguments), MOST))
        if name in ("list", "sorted", "tuple") and len(arguments) == 1 and isinstance(arguments[0], list):
            return arguments[0]
        if name == "product" and all(isinstance(a, list) for a in arguments):
            return [list(row) for row in itertools.islice(itertools.product(*arguments), MOST)]
        body = self.module.definitions.get(name)
        if body is not None and isinstance(node.func, ast.Name) and not node.args and not node.keywords:
            return self._returned(body)
        raise _NotPlain

    def _returned(self, fn: ast.FunctionDef) -> Any:
        """What a function without arguments returns: assignments of plain values, then ``return``."""
        env: dict[str, Any] = {}
        self.depth += 1
        if self.depth > 8:
            raise _NotPlain
        for stmt in fn.body:
            if isinstance(stmt, ast.Return) and stmt.value is not None:
                self.depth -= 1
                return self.value(stmt.value, env)
            if isinstance(stmt, ast.Assign) and isinstance(stmt.targets[0], ast.Name):
                env[stmt.targets[0].id] = self.value(stmt.value, env)
            elif isinstance(stmt, ast.If):
                # the host decides: the first list that can be read stands for the others
                for inner in [*stmt.body, *stmt.orelse]:
                    if isinstance(inner, ast.Return) and inner.value is not None:
                        self.depth -= 1
                        return self.value(inner.value, env)
            elif not isinstance(stmt, ast.Expr):
                break
        raise _NotPlain

    def _config(self, node: ast.Call, env: dict[str, Any]) -> Config:
        given = [k.value for k in node.keywords if k.arg == "kwargs"] or node.args[:1]
        values = self.value(given[0], env) if given else {}
        warps: Any = 4
        for keyword in node.keywords:
            if keyword.arg == "num_warps":
                warps = self.value(keyword.value, env)
        if len(node.args) > 1:
            warps = self.value(node.args[1], env)
        if not isinstance(values, dict) or warps not in (1, 2, 4, 8, 16, 32):
            raise _NotPlain
        plain = {k: v for k, v in values.items() if isinstance(k, str) and isinstance(v, (int, str))}
        return Config(plain, warps)
