"""Host modules: their functions, kernels and imports, and the files that an import leads to."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from coalesce_lint import consulted
from coalesce_lint.kernels.modules import Resolver
from coalesce_lint.launches.records import nested_name
from coalesce_lint.syntax import parse

#: An import is followed through so many re-exports.
HOPS = 4
#: A decorator of a kernel: ``@triton.jit``, ``@jit``, ``@gluon.jit``, a project's own ``@foo_jit``.
_JIT = re.compile(r"(^|\.|_)jit$")
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(eq=False)
class HostFunction:
    """A function of host code; ``owner`` is its class, ``outer`` the function around it."""

    node: FunctionNode
    module: HostModule
    owner: str = ""
    outer: HostFunction | None = None

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def parameters(self) -> list[ast.arg]:
        a = self.node.args
        return [*a.posonlyargs, *a.args, *a.kwonlyargs]


@dataclass(eq=False)
class HostModule:
    """One source file as host code. ``functions`` are those of the module's level, by name.

    ``kernels`` holds those inside functions as ``records.nested_name``: each function may have a ``kernel``.
    """

    path: str
    text: str
    tree: ast.Module
    functions: dict[str, HostFunction] = field(default_factory=dict)
    methods: dict[tuple[str, str], HostFunction] = field(default_factory=dict)
    all_functions: list[HostFunction] = field(default_factory=list)
    kernels: dict[str, ast.FunctionDef] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)
    constants: dict[str, ast.expr] = field(default_factory=dict)

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    def segment(self, node: ast.expr, longest: int = 80) -> str:
        """The source of an expression on one line."""
        first, last = node.lineno, node.end_lineno or node.lineno
        taken = [x.encode() for x in self.lines[first - 1 : min(last, first + 8)]]
        if not taken:
            return ""
        if last - first < len(taken):
            taken[last - first] = taken[last - first][: node.end_col_offset]
        taken[0] = taken[0][node.col_offset :]
        words = " ".join(" ".join(x.decode(errors="replace") for x in taken).split())
        return words if len(words) <= longest else words[: longest - 3] + "..."

    def full_name(self, dotted: str) -> str:
        """A dotted name with its first part replaced by what was imported under it."""
        head, dot, rest = dotted.partition(".")
        return self.imports.get(head, head) + dot + rest


def read_host_module(text: str, path: str) -> HostModule:
    """The host code of a source text. Raises what ``ast.parse`` raises."""
    module = HostModule(path, text, parse(text))
    _collect(module.tree.body, module, "", None)
    return module


def _collect(body: Sequence[ast.stmt], module: HostModule, owner: str, outer: HostFunction | None) -> None:
    for stmt in body:
        if isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if isinstance(stmt, ast.FunctionDef) and is_kernel(stmt):
                module.kernels[stmt.name if outer is None else nested_name(stmt.name, stmt.lineno)] = stmt
                continue
            fn = HostFunction(stmt, module, owner, outer)
            module.all_functions.append(fn)
            if owner:
                module.methods[owner, stmt.name] = fn
            elif outer is None:
                module.functions[stmt.name] = fn
            _collect(stmt.body, module, "", fn)
        elif isinstance(stmt, ast.ClassDef):
            _collect(stmt.body, module, stmt.name, outer)
        elif isinstance(stmt, ast.Import):
            for a in stmt.names:
                module.imports[a.asname or a.name.split(".")[0]] = (
                    a.name if a.asname else a.name.split(".")[0]
                )
        elif isinstance(stmt, ast.ImportFrom):
            base = "." * stmt.level + (stmt.module or "")
            for a in stmt.names:
                joint = "" if base.endswith(".") else "."
                module.imports[a.asname or a.name] = f"{base}{joint}{a.name}"
        elif isinstance(stmt, ast.Assign):
            if (
                outer is None
                and not owner
                and len(stmt.targets) == 1
                and isinstance(stmt.targets[0], ast.Name)
            ):
                module.constants[stmt.targets[0].id] = stmt.value
        else:
            for name in ("body", "orelse", "finalbody"):
                inner = getattr(stmt, name, None)
                if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                    _collect(inner, module, owner, outer)
            for handler in getattr(stmt, "handlers", ()):
                _collect(handler.body, module, owner, outer)


def is_kernel(node: ast.FunctionDef) -> bool:
    return any(_JIT.search(dotted(d.func if isinstance(d, ast.Call) else d)) for d in node.decorator_list)


def dotted(node: ast.AST) -> str:
    """``a.b.c`` of an attribute chain, "" for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


class HostTree:
    """The host modules of a run, each read once; looks up what imports name."""

    def __init__(self, roots: Sequence[Path] = ()) -> None:
        self._resolver = Resolver(roots)
        self._modules: dict[str, HostModule | None] = {}
        self._files: dict[tuple[str, str], list[str]] = {}
        self._found: dict[tuple[str, str], tuple[HostModule, str] | None] = {}

    def add(self, path: str, text: str) -> HostModule | None:
        """The module of a source text, None where it cannot be parsed."""
        key = str(Path(path).absolute())
        if key not in self._modules:
            try:
                self._modules[key] = read_host_module(text, path)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                self._modules[key] = None
        return self._modules[key]

    def forget_functions(self) -> None:
        """Lets go of all functions, so that the syntax trees go without the collector; nothing can be found
        any more.
        """
        for module in self._modules.values():
            if module is not None:
                module.all_functions.clear()
                module.functions.clear()
                module.methods.clear()
        self._found.clear()

    def load(self, file: str) -> HostModule | None:
        key = str(Path(file).absolute())
        if key not in self._modules:
            try:
                text = consulted.read_text(file)
            except (OSError, ValueError):
                self._modules[key] = None
                return None
            return self.add(file, text)
        return self._modules[key]

    def find(self, module: HostModule, name: str, hops: int = HOPS) -> tuple[HostModule, str] | None:
        """The module that defines what ``name`` (dotted, as ``module`` writes it) means, and its name there.

        The name there is that of a function, a kernel, a class's method ("Class.method") or a constant.
        """
        if hops != HOPS:
            return self._find(module, name, hops)
        key = (module.path, name)
        if key not in self._found:
            self._found[key] = self._find(module, name, hops)
        return self._found[key]

    def _find(self, module: HostModule, name: str, hops: int) -> tuple[HostModule, str] | None:
        if hops == 0:
            return None
        head, _, rest = name.partition(".")
        if head in module.functions or head in module.kernels or head in module.constants:
            return module, name
        if rest and (head, rest) in module.methods:
            return module, name
        if head not in module.imports:
            return None
        target = module.imports[head] + ("." + rest if rest else "")
        if target.startswith(("torch.", "triton.", "numpy.")):
            return None
        return self._import(module, target, hops)

    def _files_of(self, path: str, where: str) -> list[str]:
        """The files that a dotted module path may mean: looked for once, most of them are not there."""
        key = (os.path.dirname(path), where)
        if key not in self._files:
            self._files[key] = self._resolver.files(path, where)
        return self._files[key]

    def _import(self, module: HostModule, target: str, hops: int) -> tuple[HostModule, str] | None:
        where, _, name = target.rpartition(".")
        tail = ""
        for _ in range(2):  # package.module.name, or package.module.Class.method
            for file in self._files_of(module.path, where or "."):
                other = self.load(file)
                if other is not None:
                    found = self.find(other, name + tail, hops - 1)
                    if found is not None:
                        return found
            where, _, name_up = where.rpartition(".")
            tail = "." + name + tail
            name = name_up
            if not name:
                return None
        return None
