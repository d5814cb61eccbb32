"""Finds the kernels of a file, its names for ``triton.language``, its constants and imports.

``ast`` is twenty times faster than libcst and says where the kernels are and at which place each call stands;
libcst parses only the text of the kernels that are read.
"""

from __future__ import annotations

import ast
import itertools
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from unicodedata import normalize

import libcst as cst

from coalesce_lint.kernels.jit import Decorator, Names, is_jit, is_jit_call
from coalesce_lint.kernels.places import Span, places_of
from coalesce_lint.syntax import parse, walk


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

    @property
    def is_indented(self) -> bool:
        """Whether it is part of a class, a function or another block."""
        return self.module.lines[self.first_line - 1][:1].isspace()

    @cached_property
    def tree(self) -> cst.FunctionDef:
        """The function as a libcst tree, parsed from its own lines only. Raises cst.ParserSyntaxError."""
        lines = self.module.lines[self.first_line - 1 : self.node.end_lineno]
        text = "".join(lines).replace("\f", "")
        text = ("if 1:\n" if self.is_indented else "") + text + ("" if text.endswith("\n") else "\n")
        try:
            module = cst.parse_module(text)
        except cst.CSTValidationError as error:  # odd but valid spacing, such as not.5
            first = 1 + self.is_indented
            raise cst.ParserSyntaxError(str(error), lines=lines, raw_line=first, raw_column=0) from None
        if not text.isascii():
            module = module.visit(_NormalNames())
        body: Any = module.body[0]
        if isinstance(body, cst.If):
            body = body.body.body[0]
        assert isinstance(body, cst.FunctionDef)
        return body

    @cached_property
    def places(self) -> dict[int, Span]:
        """The span of each call and loop, by ``id`` of its libcst node."""
        return places_of(self.node, self.tree, self.module.lines)


class _NormalNames(cst.CSTTransformer):
    """Names in the form in which Python and ``ast`` compare them (NFKC)."""

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:
        name = original_node.value
        return updated_node if name.isascii() else updated_node.with_changes(value=normalize("NFKC", name))


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
    #: All functions of the file by name, kernels or not; of several with a name the innermost, last one.
    definitions: dict[str, ast.FunctionDef] = field(default_factory=dict)

    def forget_functions(self) -> None:
        """Lets go of the functions and their libcst trees, once no kernel is to be read any more.

        They go at once then. In a cycle with their module they would wait for the collector, to which their
        hundreds of thousands of nodes are work.
        """
        for fn in self.all_functions:
            fn.__dict__.pop("places", None)  # by ids of the tree's nodes
            fn.__dict__.pop("tree", None)
        self.functions.clear()
        self.all_functions.clear()

    @cached_property
    def lines(self) -> list[str]:
        # as Python counts lines: form feeds and the like end none
        plain = self.text.replace("\r\n", "\n").replace("\r", "\n")
        return [line + "\n" for line in plain.split("\n")]


def read_module(text: str, path: str) -> Module:
    """The module of a source text. Raises SyntaxError, ValueError (null bytes), RecursionError or
    MemoryError.
    """
    tree = parse(text)
    module = Module(path, text)
    _collect(tree, module)
    return module


def _collect(tree: ast.Module, module: Module) -> None:
    functions: list[ast.FunctionDef] = []
    calls: list[ast.Call] = []
    changed: set[str] = set()
    for node in walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            module.imports.update(_imported(node))
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                module.stars.append(node.module or "")
        elif isinstance(node, ast.FunctionDef):
            functions.append(node)
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            module.launched.add(node.value.id)
        elif isinstance(node, ast.Call):
            calls.append(node)
        elif isinstance(node, ast.Global):
            changed.update(node.names)
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
