"""A kernel carried from one process to another: its source, its helpers', and the globals they use, as plain
JSON.

The user's script is run once, in the process that captures launches. Later stages need the kernels without
running the script again: a function's source is compiled at the lines of its own file, with only those
globals that it names.
"""

from __future__ import annotations
import __future__

import ast
import base64
import builtins
import importlib
import inspect
import json
import linecache
import os
import pickle
import sys
import textwrap
from pathlib import Path
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

#: File names that end so are closures, wherever a kernel's path is expected.
SUFFIX = ".closure.json"


class ClosureError(RuntimeError):
    """A kernel that cannot be carried; ``str()`` is one line."""


def python_function(kernel: Any) -> FunctionType:
    """The Python function of a JIT function, an interpreted one, or one behind wrappers."""
    while not isinstance(kernel, FunctionType):
        kernel = kernel.fn
    return kernel


def capture(kernel: Any) -> dict[str, Any]:
    """The closure of a kernel. Raises ClosureError where its source or one of its globals cannot be had."""
    functions: list[dict[str, Any]] = []
    numbers: dict[int, int] = {}
    files: dict[str, str] = {}
    entry = _function(kernel, functions, numbers, files)
    return {"functions": functions, "entry": entry, "files": files, "sys_path": list(sys.path)}


def _function(kernel: Any, functions: list[Any], numbers: dict[int, int], files: dict[str, str]) -> int:
    function = python_function(kernel)
    if id(function) in numbers:
        return numbers[id(function)]
    number = numbers[id(function)] = len(functions)
    functions.append({})
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError) as error:
        raise ClosureError(f"the source of {function.__name__} cannot be had: {error}") from error
    start = next((k for k, line in enumerate(lines) if line.lstrip().startswith("def ")), 0)
    text = "".join(lines[start:])
    file = inspect.getsourcefile(function) or function.__code__.co_filename
    path = file_name(file)
    files.setdefault(path, "".join(linecache.getlines(file)))
    source = textwrap.dedent(text)
    functions[number] = {
        "name": function.__name__,
        "path": path,
        "line": first + start,
        "column": len(text) - len(text.lstrip()),
        "source": source,
        "future": bool(function.__code__.co_flags & __future__.annotations.compiler_flag),
        "jit": _options(kernel),
        "plain": not hasattr(kernel, "arg_names"),
        "constexpr": type(kernel).__name__ == "ConstexprFunction",
        "globals": _globals(function, source, functions, numbers, files),
    }
    return number


def file_name(file: str) -> str:
    """The name of a function's file; a notebook's cell ("<ipython-input-3>") gets one that can stand in a
    place."""
    return file if not file.startswith("<") else file.strip("<>").replace(os.sep, "_") + ".py"


def _options(kernel: Any) -> dict[str, Any]:
    """The options that ``triton.jit`` was given."""
    found = {}
    for name in ("do_not_specialize", "do_not_specialize_on_alignment", "debug", "noinline"):
        value = getattr(kernel, name, None)
        if value:
            found[name] = list(value) if isinstance(value, (list, tuple)) else value
    kept = getattr(kernel, "kwargs", None)  # of an interpreted function
    if isinstance(kept, dict):
        for name in ("do_not_specialize", "do_not_specialize_on_alignment"):
            if kept.get(name):
                found[name] = list(kept[name])
    return found


def _globals(
    function: FunctionType, source: str, functions: list[Any], numbers: dict[int, int], files: dict[str, str]
) -> dict[str, Any]:
    nonlocals = inspect.getclosurevars(function).nonlocals
    found: dict[str, Any] = {}
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id not in found:
            value = nonlocals.get(node.id, function.__globals__.get(node.id, found))
            if value is not found:
                found[node.id] = _value(node.id, value, functions, numbers, files)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            _attribute(node, nonlocals, function, found, functions, numbers, files)
    for name, spec in found.items():
        if spec["kind"] == "lost":
            values = _plain_attributes(tree, name, nonlocals.get(name, function.__globals__.get(name)))
            if values is not None:
                found[name] = {"kind": "namespace", "values": values}
    return found


def _plain_attributes(tree: ast.AST, name: str, value: Any) -> dict[str, Any] | None:
    """The attributes that are asked of a global, where nothing else is done with it and all are plain values
    (``torch.finfo(dtype).min``); else None."""
    asked = [
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name
    ]
    uses = sum(isinstance(node, ast.Name) and node.id == name for node in ast.walk(tree))
    values = {a: constant(getattr(value, a, None)) for a in asked}
    whole = uses == len(asked) and all(isinstance(v, (bool, int, float, str)) for v in values.values())
    return values if whole else None


def _attribute(
    node: ast.Attribute,
    nonlocals: Any,
    function: FunctionType,
    found: dict[str, Any],
    functions: list[Any],
    numbers: dict[int, int],
    files: dict[str, str],
) -> None:
    """What ``module.name`` is, under its dotted name: helpers and numbers, for the reader of the source."""
    dotted = ast.unparse(node)
    first, *rest = dotted.split(".")
    value: Any = nonlocals.get(first, function.__globals__.get(first))
    if not isinstance(value, (ModuleType, type)) or not all(part.isidentifier() for part in rest):
        return
    if getattr(value, "__name__", "").startswith("triton."):
        return
    for part in rest:
        value = getattr(value, part, None)
    if is_jit(value):
        found[dotted] = {"kind": "function", "id": _function(value, functions, numbers, files)}
    elif isinstance(constant(value), (int, bool, float, str)):
        found[dotted] = {"kind": "value", "value": constant(value)}


def is_jit(value: Any) -> bool:
    return type(value).__name__ in ("JITFunction", "InterpretedFunction", "GluonJITFunction")


def constant(value: Any) -> Any:
    """The value of a constexpr, else the value itself."""
    return value.value if type(value).__name__ == "constexpr" else value


def _value(
    name: str, value: Any, functions: list[Any], numbers: dict[int, int], files: dict[str, str]
) -> dict[str, Any]:
    if isinstance(value, ModuleType):
        return {"kind": "module", "name": value.__name__}
    if is_jit(value) or type(value).__name__ == "ConstexprFunction":
        home = python_function(value).__module__ or ""
        if home.startswith("triton."):
            return {"kind": "attribute", "module": home, "name": python_function(value).__qualname__}
        return {"kind": "function", "id": _function(value, functions, numbers, files)}
    inner = constant(value)
    if isinstance(inner, (int, float, str, bool, type(None))):
        return {"kind": "value", "value": inner, "constexpr": inner is not value}
    if type(inner).__name__ == "dtype" and type(inner).__module__.startswith("triton"):
        return {"kind": "triton_dtype", "name": str(inner), "constexpr": inner is not value}
    module, qualified = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    known = sys.modules.get(module) if module and module != "__main__" else None
    if known is not None and qualified and _reach(known, qualified) is value:
        return {"kind": "attribute", "module": module, "name": qualified}
    try:
        return {"kind": "pickle", "data": base64.b64encode(pickle.dumps(value)).decode()}
    except Exception:
        return {"kind": "lost", "type": type(value).__name__, "name": name}


def _reach(owner: Any, qualified: str) -> Any:
    for part in qualified.split("."):
        owner = getattr(owner, part, None)
    return owner


def load(path: str) -> Any:
    """The kernel of a closure file. Raises ClosureError where a global of it is lost or cannot be
    imported."""
    closure = json.loads(Path(path).read_text())
    for folder in closure["sys_path"]:
        if folder not in sys.path:
            sys.path.append(folder)
    for file, text in closure["files"].items():
        # The text as it was when the launch was captured; linecache never looks at the file with mtime None.
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    made: dict[int, Any] = {}
    return _make(closure, closure["entry"], made)


def _make(closure: dict[str, Any], number: int, made: dict[int, Any]) -> Any:
    import triton

    if number in made:
        return made[number]
    spec = closure["functions"][number]
    namespace: dict[str, Any] = {"__name__": "coalesce_lint_subject", "__builtins__": builtins}
    tree = ast.parse(spec["source"])
    ast.increment_lineno(tree, spec["line"] - 1)
    if spec["column"]:
        for node in ast.walk(tree):
            if isinstance(node, (ast.expr, ast.stmt, ast.arg, ast.keyword)):
                node.col_offset += spec["column"]
                node.end_col_offset = (node.end_col_offset or 0) + spec["column"]
    flags = __future__.annotations.compiler_flag if spec["future"] else 0
    for name, value in spec["globals"].items():
        if "." not in name and not (value["kind"] == "function" and value["id"] == number):
            namespace[name] = _restore(closure, value, made)
    exec(compile(tree, spec["path"], "exec", flags, dont_inherit=True), namespace)
    function = namespace[spec["name"]]
    if spec["constexpr"]:
        kernel = triton.constexpr_function(function)
    elif spec["plain"]:
        kernel = function
    else:
        kernel = triton.jit(function, **spec["jit"])
    made[number] = namespace[spec["name"]] = kernel
    return kernel


def _restore(closure: dict[str, Any], spec: dict[str, Any], made: dict[int, Any]) -> Any:
    import triton.language as tl

    match spec["kind"]:
        case "module":
            try:
                return importlib.import_module(spec["name"])
            except ImportError as error:
                raise ClosureError(f"module {spec['name']} cannot be imported again: {error}") from error
        case "attribute":
            return _reach(importlib.import_module(spec["module"]), spec["name"])
        case "function":
            return _make(closure, spec["id"], made)
        case "value":
            return tl.constexpr(spec["value"]) if spec.get("constexpr") else spec["value"]
        case "namespace":
            return SimpleNamespace(**spec["values"])
        case "triton_dtype":
            found = triton_dtype(spec["name"])
            return tl.constexpr(found) if spec.get("constexpr") else found
        case "pickle":
            return pickle.loads(base64.b64decode(spec["data"]))
    raise ClosureError(
        f"the global {spec.get('name')} is a {spec.get('type')}, which cannot be carried along"
    )


def triton_dtype(name: str) -> Any:
    """The ``tl`` type that prints as ``name`` ("fp16")."""
    import triton.language as tl

    return next((v for v in vars(tl).values() if isinstance(v, tl.dtype) and str(v) == name), None)
