"""Finds the kernels of a file, its names for ``triton.language``, its constants and imports.

``ast`` is twenty times faster than libcst and says where the kernels are and at which place each call stands;
libcst parses only the text of the kernels that are read.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import libcst as cst

from coalesce_lint.kernels.words import words

#: Packages whose ``.jit`` is not Triton's.
_OTHER_JITS = words(
    "numba nb jax torch tf cuda njit ti warp wp taichi cute cutlass flydsl flyc tilelang mlir pallas"
)
#: Names by which code calls the language without an import that says so.
LANGUAGE_NAMES = frozenset(("tl", "ttgl", "gl", "tlx", "tle"))


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

    @cached_property
    def tree(self) -> cst.FunctionDef:
        """The function as a libcst tree, parsed from its own lines only. Raises cst.ParserSyntaxError."""
        first = min([self.node.lineno, *(d.lineno for d in self.node.decorator_list)])
        lines = self.module.lines[first - 1 : self.node.end_lineno]
        indent = len(lines[0]) - len(lines[0].lstrip())
        text = "".join(lines).replace("\f", "")
        module = cst.parse_module(
            ("if 1:\n" if indent else "") + text + ("" if text.endswith("\n") else "\n")
        )
        body: Any = module.body[0]
        if isinstance(body, cst.If):
            body = body.body.body[0]
        assert isinstance(body, cst.FunctionDef)
        return body

    @cached_property
    def places(self) -> dict[int, tuple[int, int, int, int]]:
        """Line, column, end line and end column of each call and loop, by ``id`` of its libcst node.

        Both trees list the calls in the order of their closing parentheses and the loops in the order of
        their heads, so the k-th of one is the k-th of the other; libcst's own position pass costs more than
        parsing.
        """
        nodes = [n for stmt in self.node.body for n in ast.walk(stmt)]
        calls = [n for n in nodes if isinstance(n, ast.Call)]
        calls.sort(key=lambda n: (n.end_lineno or 0, n.end_col_offset or 0))
        loops = [n for n in nodes if isinstance(n, (ast.For, ast.While))]
        loops.sort(key=lambda n: (n.lineno, n.col_offset))
        found_calls, found_loops = _calls_and_loops(self.tree.body)
        if len(found_calls) != len(calls) or len(found_loops) != len(loops):
            return {}
        pairs: list[tuple[Any, Any]] = [
            *zip(found_calls, calls, strict=True),
            *zip(found_loops, loops, strict=True),
        ]
        return {id(c): (a.lineno, a.col_offset, a.end_lineno, a.end_col_offset) for c, a in pairs}


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

    @cached_property
    def lines(self) -> list[str]:
        # as Python counts lines: form feeds and the like end none
        plain = self.text.replace("\r\n", "\n").replace("\r", "\n")
        return [line + "\n" for line in plain.split("\n")]


def read_module(text: str, path: str) -> Module:
    """The module of a source text. Raises SyntaxError, ValueError (null bytes), RecursionError or
    MemoryError.
    """
    tree = ast.parse(text)
    module = Module(path, text)
    _collect(tree, module)
    return module


def _collect(tree: ast.Module, module: Module) -> None:
    functions: list[ast.FunctionDef] = []
    wrapped: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for a in node.names:
                module.imports[a.asname or a.name.split(".")[0]] = (
                    a.name if a.asname else a.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            for a in node.names:
                module.imports[a.asname or a.name] = (
                    f"{base}.{a.name}" if not base.endswith(".") else base + a.name
                )
        elif isinstance(node, ast.FunctionDef):
            functions.append(node)
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            module.launched.add(node.value.id)
        elif isinstance(node, ast.Call) and _is_jit_call(node, module):
            for arg in node.args:
                if isinstance(arg, ast.Name):
                    wrapped[arg.id] = arg.id
    for stmt in tree.body:
        _constant(stmt, module)
        if isinstance(stmt, (ast.If, ast.Try)):
            for inner in [*stmt.body, *stmt.orelse]:
                _constant(inner, module)
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            for name in node.names:
                module.constants.pop(name, None)  # some function changes it
    hidden = _hidden_names(functions)
    for node in functions:
        decorators = [_Decorator(d) for d in node.decorator_list]
        jit = next((d for d in decorators if _is_jit(d, node, module)), None)
        static = any(d.dotted.endswith("constexpr_function") for d in decorators)
        if jit is None and not static and node.name not in wrapped:
            continue
        fn = Function(
            node.name,
            module,
            node,
            _parameters(node.args),
            jit.unspecialized if jit else (),
            static,
            hidden.get(node, frozenset()),
        )
        module.functions[node.name] = fn
        module.all_functions.append(fn)


def _hidden_names(functions: list[ast.FunctionDef]) -> dict[ast.FunctionDef, frozenset[str]]:
    """For functions inside functions: the names that the outer ones bind, which hide those of the module."""
    out: dict[ast.FunctionDef, frozenset[str]] = {}
    for outer in functions:
        inside = [n for n in ast.walk(outer) if n is not outer]
        nested = [n for n in inside if isinstance(n, ast.FunctionDef)]
        if not nested:
            continue
        own = {a.arg for a in ast.walk(outer.args) if isinstance(a, ast.arg)}
        own |= {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        for fn in nested:
            out[fn] = out.get(fn, frozenset()) | own
    return out


def _constant(stmt: ast.stmt, module: Module) -> None:
    if isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 and isinstance(stmt.targets[0], ast.Name):
        module.constants[stmt.targets[0].id] = stmt.value
    elif isinstance(stmt, ast.AnnAssign) and isinstance(stmt.target, ast.Name) and stmt.value is not None:
        module.constants[stmt.target.id] = stmt.value


class _Decorator:
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


def _is_jit(d: _Decorator, node: ast.FunctionDef, module: Module) -> bool:
    name = d.dotted
    if not name:
        return False
    head, _, tail = name.rpartition(".")
    if tail != "jit" and not tail.endswith("_jit"):
        return False
    origin = module.imports.get(name.split(".")[0], name.split(".")[0])
    if _OTHER_JITS.intersection(origin.split(".")) and "triton" not in origin:
        return False
    if "triton" in origin or "gluon" in origin:
        return True
    # a project's own wrapper: Triton's where the body speaks the language
    return (bool(head) or origin == name) and _speaks_triton(node, module)


def _speaks_triton(node: ast.FunctionDef, module: Module) -> bool:
    """True where the function uses a name that stands for ``triton.language``."""
    spoken = {k for k, v in module.imports.items() if "triton" in v or "gluon" in v} | LANGUAGE_NAMES
    return any(isinstance(n, ast.Name) and n.id in spoken for n in ast.walk(node))


def _is_jit_call(node: ast.Call, module: Module) -> bool:
    """``kernel = triton.jit(function)``."""
    name = dotted(node.func)
    return name in ("triton.jit", "gluon.jit") and bool(node.args)


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


_SKIP = tuple(
    words(
        "whitespace lpar rpar comma lines_after leading_lines header footer semicolon equal operator colon "
        "lbracket rbracket lbrace rbrace asname async indent dot annotation star first_colon second_colon "
        "trailing"
    )
)
_fields: dict[type, tuple[str, ...]] = {}
_LEAVES = (cst.Name, cst.Integer, cst.Float, cst.SimpleString, cst.Pass, cst.Break, cst.Continue)


def _fields_of(kind: type) -> tuple[str, ...]:
    if kind not in _fields:
        names = getattr(kind, "__dataclass_fields__", {})
        if issubclass(kind, cst.AnnAssign):
            chosen = ["target", "annotation", "value"]
        elif issubclass(kind, cst.Annotation):
            chosen = ["annotation"]
        elif issubclass(kind, cst.FunctionDef):
            chosen = ["decorators", "params", "returns", "body"]
        elif issubclass(kind, cst.Param):
            chosen = ["annotation", "default"]
        else:
            chosen = [f for f in names if not f.startswith(_SKIP)]
        _fields[kind] = tuple(chosen)
    return _fields[kind]


def _calls_and_loops(root: cst.CSTNode) -> tuple[list[cst.Call], list[Any]]:
    """The calls under ``root`` in the order in which they end in the text, the loops by their heads."""
    out: list[cst.Call] = []
    loops: list[Any] = []
    stack: list[tuple[Any, bool]] = [(root, False)]
    while stack:
        node, done = stack.pop()
        if done:
            out.append(node)
            continue
        kind = type(node)
        if kind in _LEAVES:
            continue
        if kind is cst.Call:
            stack.append((node, True))
        elif kind is cst.For or kind is cst.While:
            loops.append(node)
        children: list[Any] = []
        if kind is cst.IfExp:
            children = [node.body, node.test, node.orelse]
        elif kind in (cst.ListComp, cst.SetComp, cst.GeneratorExp):
            children = [node.elt, node.for_in]
        elif kind is cst.Comparison:
            children = [node.left, *(t.comparator for t in node.comparisons)]
        else:
            for name in _fields_of(kind):
                value = getattr(node, name)
                if isinstance(value, cst.CSTNode):
                    children.append(value)
                elif isinstance(value, (tuple, list)):
                    children.extend(v for v in value if isinstance(v, cst.CSTNode))
        stack.extend((c, False) for c in reversed(children))
    return out, loops
