"""Which functions Triton compiles: decorators and calls of ``jit`` under all the names that they have."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from coalesce_lint.kernels.words import words
from coalesce_lint.syntax import walk

#: Packages whose ``.jit`` is not Triton's.
_OTHER_JITS = words(
    "numba nb jax torch tf cuda njit ti warp wp taichi cute cutlass flydsl flyc tilelang mlir pallas"
)
#: Names by which code calls the language without an import that says so.
LANGUAGE_NAMES = frozenset(("tl", "ttgl", "gl", "tlx", "tle"))


@dataclass(frozen=True)
class Names:
    """What the names of a module stand for: its imports (dotted) and the values of its assignments."""

    imports: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, ast.expr] = field(default_factory=dict)

    def full(self, name: str) -> str:
        """The dotted ``name`` with its first part replaced by what it stands for.

        ``J`` becomes ``triton.jit`` after ``from triton import jit as J``, ``J = triton.jit`` and ``J =
        functools.partial(triton.jit, ...)``.
        """
        for _ in range(4):  # an alias of an alias, but not of itself for ever
            head, dot, rest = name.partition(".")
            if head in self.imports:
                return self.imports[head] + dot + rest
            behind = _function_behind(self.values.get(head))
            if not behind:
                return name
            name = behind + dot + rest
        return name


def _function_behind(value: ast.expr | None) -> str:
    """The dotted name of the function that an assigned value is, or is a partial application of."""
    if isinstance(value, ast.Call):
        if dotted(value.func).rpartition(".")[2] == "partial" and value.args:
            return dotted(value.args[0])
        return dotted(value.func) if not value.args and value.keywords else ""
    return dotted(value) if value is not None else ""


class Decorator:
    """A decorator's dotted name and, for ``jit``, the arguments it must not specialize."""

    def __init__(self, node: ast.expr) -> None:
        call = node if isinstance(node, ast.Call) else None
        self.dotted = dotted(call.func if call else node)
        self.unspecialized: tuple[Any, ...] = ()
        for k in call.keywords if call else ():
            if k.arg == "do_not_specialize" and isinstance(k.value, (ast.List, ast.Tuple)):
                self.unspecialized = tuple(e.value for e in k.value.elts if isinstance(e, ast.Constant))


def dotted(node: ast.expr) -> str:
    """``a.b.c`` of an attribute chain, "" for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


def is_jit(d: Decorator, node: ast.FunctionDef, names: Names) -> bool:
    """True where the decorator makes ``node`` a kernel, or a function that kernels call."""
    if not d.dotted:
        return False
    full = names.full(d.dotted)
    head, _, tail = full.rpartition(".")
    if tail != "jit" and not tail.endswith("_jit"):
        return False
    packages = head.split(".") if head else [full]
    if _is_tritons(full):
        return True
    if _OTHER_JITS.intersection(packages):
        return False
    # a project's own wrapper: Triton's where the body speaks the language
    return ("." in d.dotted or full == d.dotted) and _speaks_triton(node, names)


def _is_tritons(full: str) -> bool:
    return "triton" in full or "gluon" in full


def _speaks_triton(node: ast.FunctionDef, names: Names) -> bool:
    """True where the function uses a name that stands for ``triton.language``."""
    spoken = {k for k, v in names.imports.items() if _is_tritons(v)} | LANGUAGE_NAMES
    return any(isinstance(n, ast.Name) and n.id in spoken for n in walk(node))


def is_jit_call(node: ast.Call, names: Names) -> bool:
    """``kernel = triton.jit(function)``."""
    full = names.full(dotted(node.func))
    return bool(node.args) and full.rpartition(".")[2] == "jit" and _is_tritons(full)
