"""The user's kernel within a worker: imports its file, binds a launch's arguments to its parameters."""

from __future__ import annotations

import importlib.util
import inspect
import os
import sys
from typing import Any

from coalesce_lint.verify import closure
from coalesce_lint.verify.request import TORCH_TYPES, base_address, parse_pointer


class MissingArguments(ValueError):
    """A launch does not give every argument; ``names`` lists those without a value."""

    def __init__(self, names: list[str]) -> None:
        several = len(names) > 1
        super().__init__(
            f"argument{'s' if several else ''} {', '.join(names)} {'have' if several else 'has'} no value"
        )
        self.names = names


def load_kernel(path: str, name: str, line: int | None = None) -> Any:
    """The object called ``name`` in the file; ``name`` may be dotted (a kernel within a class).

    A kernel that is bound to another name, or lies in a class, is found by its own name and its line. Raises
    LookupError where the file has it under no name. A path may also be that of a closure (``closure.py``).
    """
    if path.endswith(closure.SUFFIX):
        return closure.load(path)
    module = load_module(path)
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is not None and (line is None or first_line(found) in (None, line)):
        return found
    for owner in (module, *(v for v in vars(module).values() if isinstance(v, type))):
        for value in vars(owner).values():
            inner = getattr(function_behind(value), "__name__", None)
            if inner == name and (line is None or first_line(value) == line):
                return value
    if found is not None:
        return found
    raise LookupError(f"no kernel is reached as {name} once the file is imported")


def load_module(path: str) -> Any:
    """The imported file. One that imports relative to its package is imported as a part of that."""
    spec = importlib.util.spec_from_file_location("coalesce_lint_subject", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot import {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    file = os.path.abspath(path)
    sys.path.insert(0, os.path.dirname(file))
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        folder, names = os.path.dirname(file), [os.path.splitext(os.path.basename(file))[0]]
        while os.path.exists(os.path.join(folder, "__init__.py")):
            names.insert(0, os.path.basename(folder))
            folder = os.path.dirname(folder)
        if "relative import" not in str(error) or len(names) == 1:
            raise
        sys.path.insert(0, folder)
        return importlib.import_module(".".join(names))
    return module


def function_behind(value: Any) -> Any:
    """The Python function within a kernel and what wraps it (autotuners, heuristics), else None."""
    for _ in range(8):
        value = vars(value).get("fn") if hasattr(value, "__dict__") else None
        if value is None or inspect.isfunction(value):
            return value
    return None


def first_line(value: Any) -> int | None:
    """The line of the ``def`` of a kernel, None where it cannot be told."""
    function = function_behind(value)
    try:
        lines, start = inspect.getsourcelines(function) if function is not None else ([], 0)
    except (OSError, TypeError):
        return None
    return next((start + k for k, text in enumerate(lines) if text.lstrip().startswith("def ")), None)


def unwrap(kernel: Any) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """The JIT function behind autotuners and heuristics, the first configuration, and the heuristics by
    name."""
    config: dict[str, Any] = {}
    rules: dict[str, Any] = {}
    while not hasattr(kernel, "arg_names") or hasattr(kernel, "configs") or hasattr(kernel, "values"):
        if getattr(kernel, "configs", None) and not config:
            first = kernel.configs[0]
            config = {**first.kwargs, "num_warps": first.num_warps, "num_stages": first.num_stages}
        if isinstance(getattr(kernel, "values", None), dict):
            rules.update(kernel.values)
        kernel = kernel.fn
    return kernel, config, rules


def bind(
    kernel: Any, task: dict[str, Any], make_pointer: Any
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Arguments of the kernel by name, compile options, and what was taken from the kernel's first autotune
    configuration, heuristics and defaults. Raises MissingArguments."""
    function, config, rules = unwrap(kernel)
    values: dict[str, Any] = {}
    taken: dict[str, Any] = {}
    missing: list[str] = []
    for index, parameter in enumerate(
        function.params if hasattr(function, "params") else parameters(function)
    ):
        name, default = parameter.name, parameter.default
        if name in task["arguments"]:
            values[name] = argument(parameter, index, task["arguments"][name], make_pointer)
            continue
        if name in config:
            values[name] = config[name]
        elif name in rules:
            values[name] = rules[name]({**config, **values})
        elif default is not inspect.Parameter.empty:
            values[name] = default
        else:
            missing.append(name)
            continue
        taken[name] = values[name]
    if missing:
        raise MissingArguments(missing)
    options = dict(task.get("options") or {})
    for key in ("num_warps", "num_stages"):
        chosen = task.get(key) or config.get(key)
        if chosen:
            options[key] = chosen
    return values, options, {n: v for n, v in taken.items() if v is None or isinstance(v, (int, float, str))}


def argument(parameter: Any, index: int, value: Any, make_pointer: Any) -> Any:
    """The value of a given argument: pointers from "*fp16:4", types of constexprs from their names."""
    import triton.language as tl

    pointer = parse_pointer(value)
    if pointer is not None:
        return make_pointer(parameter.name, pointer[0], base_address(index, pointer[1]))
    if isinstance(value, str) and parameter_is_constexpr(parameter):
        kind = getattr(tl, value.removeprefix("tl."), None) or dtype_named(tl, value)
        return value if kind is None else kind
    return value


def parameters(function: Any) -> list[Any]:
    """The parameters of an interpreted function, which has no ``params``."""
    return list(inspect.signature(function.fn).parameters.values())


def parameter_is_constexpr(parameter: Any) -> bool:
    """For JIT parameters and plain ``inspect`` ones alike."""
    return bool(getattr(parameter, "is_constexpr", "constexpr" in str(getattr(parameter, "annotation", ""))))


def dtype_named(tl: Any, name: str) -> Any:
    """The ``tl`` type that prints as ``name`` ("fp16"), else None."""
    return next((v for v in vars(tl).values() if isinstance(v, tl.dtype) and str(v) == name), None)


class FakeTensor:
    """A pointer argument: a dtype and an address, nothing behind it."""

    def __init__(self, dtype: Any, address: int) -> None:
        self.dtype = dtype
        self._address = address

    def data_ptr(self) -> int:
        return self._address

    @staticmethod
    def ptr_range() -> int:
        return 0


def fake_pointer(name: str, kind: str, address: int) -> FakeTensor:
    import torch

    return FakeTensor(getattr(torch, TORCH_TYPES[kind]), address)
