"""Finds the kernels of a file, its names for ``triton.language``, its constants and imports.

Kernels are read as ``ast`` sees them. A concrete syntax tree (libcst) costs ten to twenty times the time and
holds nothing more that a verdict needs; ``verify`` takes it to rewrite kernels and leave the rest as it is.
"""

from __future__ import annotations

import ast
import itertools
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from coalesce_lint.access import Place
from coalesce_lint.kernels.jit import Decorator, Names, is_jit, is_jit_call
from coalesce_lint.syntax import characters, parse, walk


@dataclass
class Parameter:
    """A parameter as written: its annotation as text, its default as an ast node."""

    name: str
    annotation: str = ""
    default: ast.expr | None = None
    variadic: bool = False


@dataclass(eq=False)
class Function:
    """A function that Triton compiles. ``static`` marks a ``constexpr_function``, run by Python at compile
    time.
    """

    name: str
    module: Module
    node: ast.FunctionDef
    parameters: list[Parameter]
    do_not_specialize: tuple[Any, ...] = ()
    static: bool = False
    hidden: frozenset[str] = frozenset()  #: names that an enclosing function binds: not those of the module

    @property
    def line(self) -> int:
        return self.node.lineno

    @property
    def first_line(self) -> int:
        """The line of the first decorator, or of the ``def``."""
        return min([self.node.lineno, *(d.lineno for d in self.node.decorator_list)])


@dataclass(eq=False)
class Module:
    """One source file: what the interpreter needs to know beside the kernels' bodies."""

    path: str
    text: str
    functions: dict[str, Function] = field(default_factory=dict)
    all_functions: list[Function] = field(default_factory=list)
    imports: dict[str, str] = field(default_factory=dict)
    constants: dict[str, ast.expr] = field(default_factory=dict)
    launched: set[str] = field(default_factory=set)
    stars: list[str] = field(default_factory=list)  #: modules of ``from module import *``
    calls: list[ast.Call] = field(default_factory=list)  #: all of the file, by their lines
    #: All functions of the file by name, kernels or not; of several with a name the innermost, last one.
    definitions: dict[str, ast.FunctionDef] = field(default_factory=dict)

    def calls_in(self, fn: Function) -> list[ast.Call]:
        """The calls in one of the functions, in its decorators too."""
        first = bisect_left(self.calls, fn.first_line, key=lambda c: c.lineno)
        last = bisect_right(self.calls, fn.node.end_lineno or fn.line, key=lambda c: c.lineno)
        return self.calls[first:last]

    def forget_functions(self) -> None:
        """Lets go of the functions, once no kernel is to be read any more: in a cycle with their module they
        would wait for the collector.
        """
        self.functions.clear()
        self.all_functions.clear()

    @cached_property
    def lines(self) -> list[str]:
        # as Python counts lines: form feeds and the like end none
        plain = self.text.replace("\r\n", "\n").replace("\r", "\n")
        return [line + "\n" for line in plain.split("\n")]

    @cached_property
    def _is_ascii(self) -> bool:
        return self.text.isascii()

    def place(self, node: ast.expr) -> Place:
        """Where an expression of this file stands. Columns count characters from 0."""
        last = node.end_lineno or node.lineno
        start, end = node.col_offset, node.end_col_offset or 0
        if not self._is_ascii:
            start = characters(self.lines, node.lineno, start)
            end = characters(self.lines, last, end)
        return Place(self.path, node.lineno, start, last, end)


def read_module(text: str, path: str) -> Module:
    """The module of a source text. Raises SyntaxError, ValueError (null bytes), RecursionError or
    MemoryError.
    """
    tree = parse(text)
    module = Module(path, text)
    _collect(tree, module)
    return module


_TELLING = frozenset((ast.Call, ast.FunctionDef, ast.Subscript, ast.Global, ast.Import, ast.ImportFrom))


def _collect(tree: ast.Module, module: Module) -> None:
    functions: list[ast.FunctionDef] = []
    calls: list[ast.Call] = []
    changed: set[str] = set()
    node: Any
    for node in walk(tree):
        kind = type(node)
        if kind not in _TELLING:  # most nodes, and a set is quicker than a row of isinstance
            continue
        if kind is ast.Call:
            calls.append(node)
        elif kind is ast.FunctionDef:
            functions.append(node)
        elif kind is ast.Subscript:
            if isinstance(node.value, ast.Name):
                module.launched.add(node.value.id)
        elif kind is ast.Global:
            changed.update(node.names)
        else:
            module.imports.update(_imported(node))
            if kind is ast.ImportFrom and node.names[0].name == "*":
                module.stars.append(node.module or "")
    module.calls = sorted(calls, key=lambda c: c.lineno)
    module.definitions = {f.name: f for f in functions}
    for stmt in tree.body:
        _constant(stmt, module)
        if isinstance(stmt, (ast.If, ast.Try)):
            for inner in [*stmt.body, *stmt.orelse]:
                _constant(inner, module)
    for name in changed:
        module.constants.pop(name, None)  # some function changes it
    names = Names(module.imports, module.constants)
    wrapped = _wrapped(calls, names)
    hidden = _hidden_names(functions)
    for fdef in functions:
        decorators = [Decorator(d) for d in fdef.decorator_list]
        jit = next((d for d in decorators if is_jit(d, fdef, names)), None)
        static = any(names.full(d.dotted).endswith("constexpr_function") for d in decorators)
        if jit is None and not static and fdef.name not in wrapped:
            continue
        fn = Function(
            fdef.name,
            module,
            fdef,
            _parameters(fdef.args),
            jit.unspecialized if jit else (),
            static,
            hidden.get(fdef, frozenset()),
        )
        module.functions[fdef.name] = fn
        module.all_functions.append(fn)


def _imported(node: ast.Import | ast.ImportFrom) -> dict[str, str]:
    """The names that an import binds, and the dotted names that they stand for."""
    if isinstance(node, ast.Import):
        return {
            a.asname or a.name.split(".")[0]: a.name if a.asname else a.name.split(".")[0] for a in node.names
        }
    base = "." * node.level + (node.module or "")
    return {
        a.asname or a.name: f"{base}.{a.name}" if not base.endswith(".") else base + a.name
        for a in node.names
    }


def _wrapped(calls: list[ast.Call], names: Names) -> set[str]:
    """The functions that a call such as ``triton.jit(function)`` makes kernels."""
    aliases = {"jit", *(k for k in (*names.imports, *names.values) if names.full(k).endswith(".jit"))}
    found = set()
    for call in calls:
        called = call.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if name in aliases and is_jit_call(call, names):
            found |= {a.id for a in call.args if isinstance(a, ast.Name)}
    return found


def _hidden_names(functions: list[ast.FunctionDef]) -> dict[ast.FunctionDef, frozenset[str]]:
    """For functions inside functions: the names that the outer ones bind, which hide those of the module."""
    out: dict[ast.FunctionDef, frozenset[str]] = {}
    in_order = sorted(functions, key=lambda f: f.lineno)
    for outer, following in itertools.pairwise(in_order):
        if following.lineno > (outer.end_lineno or 0):
            continue  # no function inside
        inside = walk(outer)[1:]
        nested = [n for n in inside if isinstance(n, ast.FunctionDef)]
        if not nested:
            continue
        own = {a.arg for a in walk(outer.args) if isinstance(a, ast.arg)}
        own |= {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        for fn in nested:
            out[fn] = out.get(fn, frozenset()) | own
    return out


def _constant(stmt: ast.stmt, module: Module) -> None:
    if isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 and isinstance(stmt.targets[0], ast.Name):
        module.constants[stmt.targets[0].id] = stmt.value
    elif isinstance(stmt, ast.AnnAssign) and isinstance(stmt.target, ast.Name) and stmt.value is not None:
        module.constants[stmt.target.id] = stmt.value


def _parameters(args: ast.arguments) -> list[Parameter]:
    plain = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(args.defaults)) + list(args.defaults)
    out = [Parameter(a.arg, _text(a.annotation), d) for a, d in zip(plain, defaults, strict=True)]
    if args.vararg:
        out.append(Parameter(args.vararg.arg, "", None, True))
    out += [
        Parameter(a.arg, _text(a.annotation), d)
        for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True)
    ]
    return out


def _text(annotation: ast.expr | None) -> str:
    return ast.unparse(annotation) if annotation is not None else ""
