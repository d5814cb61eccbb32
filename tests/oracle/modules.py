"""Loads the kernels of a source file: stand-ins for Triton, constants, helpers from neighbouring files."""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .dtypes import OracleUnsupported
from .language import LANGUAGE, cdiv, constexpr, float_function, floor_division, remainder_of_divisor, same
from .memory import machine
from .rewrite import RUNTIME, Rewriter, is_constexpr_annotation
from .values import Tile

#: The builtins of Python that kernels and module constants may use.
BUILTINS = (
    "len int float bool str abs tuple list dict set sum getattr hasattr zip enumerate any all repr sorted"
)


class Namespace:
    """A stand-in for a module: known names, submodules, and a fallback (or an error) for the rest."""

    def __init__(
        self, name: str, members: dict[str, Any], fallback: Callable[[str], Any] | None = None
    ) -> None:
        self.__dict__.update(members)
        self._name, self._fallback = name, fallback

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if self._fallback is not None:
            return self._fallback(name)
        raise OracleUnsupported(f"{self._name}.{name}")


class Opaque:
    """A value that never matters to an address: a layout, a launch configuration."""

    def __call__(self, *_args: Any, **_kwargs: Any) -> Opaque:
        return self

    def __getattr__(self, name: str) -> Opaque:
        if name.startswith("__"):
            raise AttributeError(name)
        return self


class Missing:
    """A name that could not be loaded; using it is an error that says which."""

    def __init__(self, name: str) -> None:
        self._name = name

    def _fail(self, *_args: Any, **_kwargs: Any) -> Any:
        raise OracleUnsupported(f"the name {self._name!r} could not be loaded")

    __call__ = __bool__ = __index__ = __iter__ = __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = _fail

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._fail()


def _next_power_of_2(n: Any) -> int:
    return 1 << max(0, int(n) - 1).bit_length()


def _gluon_name(name: str) -> Any:
    if name.endswith("Layout") or name in ("nvidia", "amd"):
        return Opaque()
    raise OracleUnsupported(f"gluon {name}")


MATH = Namespace("tl.math", {k: v for k, v in LANGUAGE.items() if callable(v)}, lambda _name: float_function)
TL = Namespace("tl", {**LANGUAGE, "math": MATH, "tensor": Tile, "libdevice": MATH})
TL.core = TL.standard = TL.random = TL
TL.extra = Namespace("tl.extra", {"libdevice": MATH}, lambda _name: TL.extra)
GL = Namespace("gl", {**LANGUAGE, "convert_layout": same, "math": MATH, "tensor": Tile}, _gluon_name)
HELPERS = Namespace(
    "triton_helpers",
    {
        **LANGUAGE,
        "div_floor_integer": floor_division,
        "remainder_integer": remainder_of_divisor,
        "math": MATH,
        "libdevice": MATH,
    },
    lambda _name: float_function,
)
TRITON = Namespace(
    "triton",
    {"language": TL, "cdiv": cdiv, "next_power_of_2": _next_power_of_2},
    lambda _name: Opaque(),
)


class JitFunction:
    """A function marked with ``@triton.jit``: callable from kernels, launched by ``launch``."""

    def __init__(self, node: ast.FunctionDef, path: str, static: bool) -> None:
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        self.name, self.path, self.line, self.static = node.name, path, node.lineno, static
        self.parameters = [a.arg for a in arguments]
        self.constexprs = {a.arg for a in arguments if is_constexpr_annotation(a.annotation)}
        self.annotations = {a.arg: ast.unparse(a.annotation) for a in arguments if a.annotation is not None}
        positional = [*node.args.posonlyargs, *node.args.args]
        defaults = node.args.defaults
        self.defaults = [a.arg for a in positional[len(positional) - len(defaults) :]] if defaults else []
        self.run: Callable[..., Any] = Missing(node.name)

    @property
    def fn(self) -> Callable[..., Any]:
        return self.run

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        state = machine()
        if len(state.chain) > 40:
            raise OracleUnsupported("helpers that call each other without end")
        kwargs = {**dict(zip(self.parameters, args, strict=False)), **kwargs}
        unknown = set(kwargs) - set(self.parameters)
        if unknown or len(args) > len(self.parameters):
            raise OracleUnsupported(f"arguments that {self.name} does not take: {sorted(unknown)}")
        if not self.static:
            kwargs = {k: constexpr(v) if k in self.constexprs else v for k, v in kwargs.items()}
        state.chain.append(state.position)
        try:
            return self.run(**kwargs)
        finally:
            state.chain.pop()


class Module:
    """One source file: ``names`` are the globals that its functions see."""

    def __init__(self, text: str, path: str, loader: Loader | None = None) -> None:
        self.path = path
        self.loader = loader
        self.functions: dict[str, JitFunction] = {}
        safe = {n: getattr(builtins, n) for n in BUILTINS.split()}
        self.names: dict[str, Any] = {"__builtins__": safe, "math": math, **RUNTIME}
        tree = ast.parse(text)
        self._statements(tree.body)
        for name, module in (("tl", TL), ("triton", TRITON)):  # imported inside a function, perhaps
            self.names.setdefault(name, module)
        for node in ast.walk(tree):  # kernels that are defined inside functions or classes
            if isinstance(node, ast.FunctionDef) and node.name not in self.names:
                self._function(node)

    def _statements(self, body: list[ast.stmt]) -> None:
        for node in body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self._import(node)
            elif isinstance(node, ast.FunctionDef):
                self._function(node)
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                self._constant(node)
            elif isinstance(node, ast.Try):
                # What an import error would define goes first, so that the real thing replaces it.
                self._statements([*(s for h in node.handlers for s in h.body), *node.body, *node.orelse])
            elif isinstance(node, ast.If):
                self._statements([*node.orelse, *node.body])

    def _function(self, node: ast.FunctionDef) -> None:
        marks = [ast.unparse(d) for d in node.decorator_list]
        if not any(_compiled_by_triton(m) for m in marks):
            self.names.setdefault(node.name, Missing(node.name))
            return
        static = any("constexpr_function" in m for m in marks)
        function = JitFunction(node, self.path, static)
        try:
            tree = ast.Module(body=[Rewriter(self.path, static).function(node)], type_ignores=[])
            exec(compile(tree, self.path, "exec"), self.names)
            function.run = self.names[node.name]
        except OracleUnsupported as error:
            function.run = _raiser(str(error))
        except Exception as error:
            function.run = _raiser(f"{node.name} could not be loaded: {error!r}")
        self.names[node.name] = function
        self.functions[node.name] = function

    def _constant(self, node: ast.Assign | ast.AnnAssign) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if node.value is None:
            return
        try:
            value = eval(compile(ast.Expression(node.value), self.path, "eval"), self.names)
        except Exception:
            value = Missing(ast.unparse(targets[0]))
        for target in targets:
            if isinstance(target, ast.Name):
                self.names[target.id] = value
            elif isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, tuple):
                pairs = zip(target.elts, value, strict=False)
                self.names.update({t.id: v for t, v in pairs if isinstance(t, ast.Name)})

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                known = stand_in(alias.name)
                if alias.asname:
                    self.names[alias.asname] = known if known is not None else Missing(alias.name)
                else:
                    top = alias.name.split(".")[0]
                    known = stand_in(top)
                    self.names.setdefault(top, known if known is not None else Missing(top))
            return
        module = node.module or ""
        source = stand_in(module) if not node.level else None
        for alias in node.names:
            name = alias.asname or alias.name
            if source is not None:
                nested = stand_in(f"{module}.{alias.name}")
                try:
                    self.names[name] = nested if nested is not None else getattr(source, alias.name)
                except (OracleUnsupported, AttributeError):
                    self.names[name] = Missing(alias.name)
            else:
                self._import_file(module, node.level, alias.name, name)

    def _import_file(self, module: str, level: int, original: str, name: str) -> None:
        if original == "triton_helpers":
            self.names[name] = HELPERS
            return
        value: Any = Missing(original)
        if self.loader is not None:
            value = self.loader.find(self.path, module, level, original)
        if name not in self.names or not isinstance(value, Missing):
            self.names[name] = value


def _compiled_by_triton(mark: str) -> bool:
    name = mark.split("(")[0]
    foreign = ("cute.", "torch.", "numba.", "cuda.", "jax.", "functools.")
    return ("jit" in name and not name.startswith(foreign)) or "constexpr_function" in mark


def _raiser(text: str) -> Callable[..., Any]:
    def fail(*_args: Any, **_kwargs: Any) -> Any:
        raise OracleUnsupported(text)

    return fail


def stand_in(module: str) -> Any:
    """What stands in for a module of Triton (or ``math``); None for any other module."""
    if module == "math":
        return math
    parts = module.split(".")
    if parts[0] != "triton":
        return HELPERS if parts[-1] == "triton_helpers" else None
    if "libdevice" in parts or parts[-1] == "math":
        return MATH
    if "gluon" in parts:
        return GL if "language" in parts else Namespace(module, {"language": GL}, lambda _n: Opaque())
    if parts[1:2] == ["language"]:
        if "extra" in parts:
            return TL.extra
        return TL if len(parts) == 2 or parts[2] in ("core", "standard") else None
    return TRITON if len(parts) == 1 else None


class Loader:
    """Loads files and finds the files that they import helpers from, by walking up the folders."""

    def __init__(self) -> None:
        self._modules: dict[str, Module | None] = {}

    def load(self, path: str) -> Module:
        if path not in self._modules:
            self._modules[path] = None  # a circular import sees nothing
            self._modules[path] = Module(Path(path).read_text(errors="replace"), path, self)
        module = self._modules[path]
        if module is None:
            raise OracleUnsupported(f"circular import of {path}")
        return module

    def find(self, importer: str, module: str, level: int, name: str) -> Any:
        """The value that ``from module import name`` in ``importer`` brings, or ``Missing``."""
        folder = Path(importer).parent
        for _ in range(level - 1):
            folder = folder.parent
        parts = module.split(".") if module else []
        roots = [folder] if level else [folder, *folder.parents]
        for root in roots:
            base = root.joinpath(*parts)
            for candidate in (base.with_suffix(".py"), base / "__init__.py", base / f"{name}.py"):
                if (parts or level) and candidate.is_file():
                    try:
                        loaded = self.load(str(candidate))
                    except (OracleUnsupported, SyntaxError, RecursionError):
                        continue
                    if candidate == base / f"{name}.py":
                        return Namespace(name, loaded.names)
                    if name in loaded.names and not isinstance(loaded.names[name], Missing):
                        return loaded.names[name]
            if not level and root.name in ("corpus", "site-packages"):
                break
        return Missing(name)
