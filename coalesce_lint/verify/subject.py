"""The user's kernel within a worker: imports its file, binds a launch's arguments to its parameters."""

from __future__ import annotations

import importlib.util
import inspect
import os
import sys
from typing import Any

from coalesce_lint.verify.request import TORCH_TYPES, base_address, parse_pointer


def load_kernel(path: str, name: str) -> Any:
    """The object called ``name`` in the file; ``name`` may be dotted (a kernel within a class)."""
    spec = importlib.util.spec_from_file_location("coalesce_lint_subject", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot import {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec.loader.exec_module(module)
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part)
    return found


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


def bind(kernel: Any, task: dict[str, Any], make_pointer: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments of the kernel by name, and compile options. Raises ValueError where an argument is
    missing."""
    import triton.language as tl

    function, config, rules = unwrap(kernel)
    given = dict(task["arguments"])
    values: dict[str, Any] = {}
    for index, parameter in enumerate(
        function.params if hasattr(function, "params") else parameters(function)
    ):
        name, default = parameter.name, parameter.default
        if name in given:
            value = given[name]
            pointer = parse_pointer(value)
            if pointer is not None:
                value = make_pointer(name, pointer[0], base_address(index, pointer[1]))
            elif isinstance(value, str) and parameter_is_constexpr(parameter):
                kind = getattr(tl, value.removeprefix("tl."), None) or dtype_named(tl, value)
                value = value if kind is None else kind
        elif name in config:
            value = config[name]
        elif name in rules:
            value = rules[name]({**config, **values})
        elif default is not inspect.Parameter.empty:
            value = default
        else:
            raise ValueError(f"argument {name} has no value")
        values[name] = value
    options = dict(task.get("options") or {})
    for key in ("num_warps", "num_stages"):
        chosen = task.get(key) or config.get(key)
        if chosen:
            options[key] = chosen
    return values, options


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
