"""Launches a kernel that has no script: tensors by shape, a grid as an expression; or the file's own
``launch()``.

``parse`` needs neither torch nor triton and is used to check the command line.
"""

from __future__ import annotations

import ast
import operator
import os
import re
import sys
from dataclasses import dataclass, field
from typing import Any

from coalesce_lint.verify.request import TORCH_TYPES

_TENSOR = re.compile(r"(\w+)\[([^\]]*)\](.*)$")
_SHORT = {"int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "bool": "i1",
          "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64",
          "fp8": "fp8e4nv"}  # fmt: skip


class SynthesisError(ValueError):
    """An option that cannot be read; ``str()`` is one line."""


@dataclass
class TensorArgument:
    """A tensor to be made: ``type`` as Triton names it, sizes and strides in elements, ``offset``
    likewise."""

    type: str
    size: list[int]
    stride: list[int] | None = None
    offset: int = 0
    highest: int | None = None  #: integers are made below this

    def as_dict(self) -> dict[str, Any]:
        return {"tensor": True, **vars(self)}


@dataclass
class _Names:
    values: dict[str, Any] = field(default_factory=dict)


def parse(texts: list[str]) -> dict[str, Any]:
    """The ``--arg`` options in order: tensors as dicts, other values as they are. Raises SynthesisError."""
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip().isidentifier() or not value.strip():
            raise SynthesisError(f"--arg {text}: expected NAME=VALUE, such as n=4096 or x=fp32[4096,4096]")
        name = name.strip()
        if name in found:
            raise SynthesisError(f"--arg {text}: {name} is given twice")
        found[name] = _value(name, value.strip())
    return found


def _value(name: str, text: str) -> Any:
    tensor = _TENSOR.match(text)
    if tensor and (_SHORT.get(tensor.group(1), tensor.group(1)) in TORCH_TYPES):
        return _tensor(name, *tensor.groups())
    if tensor:
        raise SynthesisError(
            f"--arg {name}: '{tensor.group(1)}' names no element type; known are {', '.join(TORCH_TYPES)}"
        )
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise SynthesisError(
        f"--arg {name}: '{text}' is neither a number, True, False, None, a name nor a tensor (fp32[128,64])"
    )


def _numbers(name: str, text: str) -> list[int]:
    parts = [p.strip() for p in text.strip("()[] ").split(",") if p.strip()]
    if not all(re.fullmatch(r"\d{1,12}", p) for p in parts):
        raise SynthesisError(f"--arg {name}: '{text}' is no list of sizes such as 4096,4096")
    return [int(p) for p in parts]


def _tensor(name: str, kind: str, sizes: str, rest: str) -> dict[str, Any]:
    tensor = TensorArgument(_SHORT.get(kind, kind), _numbers(name, sizes))
    options = re.findall(r"(\w+)=(\([^)]*\)|\[[^\]]*\]|\w+)", rest)
    if re.sub(r"(\w+)=(\([^)]*\)|\[[^\]]*\]|\w+)", "", rest).strip(" ,;:"):
        raise SynthesisError(
            f"--arg {name}: '{rest.strip()}' is not read; known are strides=(..), offset=N, below=N"
        )
    for option, value in options:
        numbers = _numbers(name, value)
        if option == "strides":
            if len(numbers) != len(tensor.size):
                raise SynthesisError(f"--arg {name}: {len(numbers)} strides for {len(tensor.size)} sizes")
            tensor.stride = numbers
        elif option in ("offset", "below") and len(numbers) == 1:
            if option == "offset":
                tensor.offset = numbers[0]
            else:
                tensor.highest = numbers[0]
        else:
            raise SynthesisError(
                f"--arg {name}: '{option}' is not known; known are strides=(..), offset=N, below=N"
            )
    return tensor.as_dict()


_OPERATORS: dict[type[ast.AST], Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.Pow: operator.pow,
}  # fmt: skip


def grid_of(text: str, names: dict[str, Any]) -> tuple[int, ...]:
    """The grid of ``--grid``: up to three expressions over the arguments, with ``cdiv``, ``min`` and
    ``max``."""
    try:
        tree = ast.parse(f"({text},)", mode="eval").body
        assert isinstance(tree, ast.Tuple)
        sizes = tuple(_number(e, names) for e in tree.elts)
    except (SyntaxError, ValueError, TypeError, ZeroDivisionError, AssertionError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise SynthesisError(f"--grid {text}: {reason}") from None
    if not 1 <= len(sizes) <= 3 or not all(isinstance(s, int) and s > 0 for s in sizes):
        raise SynthesisError(f"--grid {text}: expected one to three positive numbers, got {sizes}")
    return sizes


def _number(node: ast.expr, names: dict[str, Any]) -> Any:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name):
            if not isinstance(names.get(name), int):
                raise ValueError(f"{name} is no integer argument")
            return names[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_number(left, names), _number(right, names))
        case ast.Call(func=ast.Name(id="cdiv") | ast.Attribute(attr="cdiv"), args=[a, b]):
            return -(-_number(a, names) // _number(b, names))
        case ast.Call(func=ast.Name(id="min" | "max" as name), args=args):
            return (min if name == "min" else max)(_number(a, names) for a in args)
    raise ValueError(f"'{ast.unparse(node)}' is not read; numbers, arguments, + - * // % and cdiv(a, b) are")


def make_tensor(spec: dict[str, Any], device: str) -> Any:
    """A tensor of random values (small integers for integer types), with the strides and the offset asked
    for."""
    import torch

    dtype = getattr(torch, TORCH_TYPES[spec["type"]])
    size, stride = spec["size"], spec["stride"]
    if stride is None:
        stride = [1] * len(size)
        for k in range(len(size) - 2, -1, -1):
            stride[k] = stride[k + 1] * max(size[k + 1], 1)
    extent = 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) if all(size) else 0
    total = extent + spec["offset"]
    generator = torch.Generator(device=device).manual_seed(0)
    if dtype.is_floating_point:
        flat = torch.randn(total, generator=generator, device=device, dtype=torch.float32).to(dtype)
    else:
        high = spec["highest"] or (2 if dtype == torch.bool else 100)
        flat = torch.randint(0, high, (total,), generator=generator, device=device).to(dtype)
    return flat.as_strided(size, stride, spec["offset"])


def launch(task: dict[str, Any]) -> None:
    """Launches the task's kernel with made-up tensors, or calls the ``launch()`` of its file."""
    from coalesce_lint.verify.subject import load_kernel

    path, name = task["script"], task["kernel"]
    device = "cpu" if os.environ.get("TRITON_INTERPRET") == "1" else "cuda"
    kernel = load_kernel(path, name)
    module = sys.modules["coalesce_lint_subject"]
    if not task["arguments"] and callable(getattr(module, "launch", None)):
        module.launch()
        return
    values: dict[str, Any] = {}
    for key, value in task["arguments"].items():
        values[key] = make_tensor(value, device) if isinstance(value, dict) else dtype_or(value)
    inner = kernel
    while not hasattr(inner, "arg_names") or hasattr(inner, "configs"):
        inner = inner.fn
    known = set(inner.arg_names)
    unknown = [n for n in values if n not in known]
    if unknown:
        raise SynthesisError(
            f"--arg {unknown[0]}: {name} has no such parameter; it has {', '.join(inner.arg_names)}"
        )
    text = task["grid"] or "1"
    options = {"num_warps": task["num_warps"]} if task["num_warps"] else {}
    kernel[lambda merged: grid_of(text, {**merged, **values})](**values, **options)


def dtype_or(value: Any) -> Any:
    """``tl.float32`` by its name, other values as they are."""
    import triton.language as tl

    if isinstance(value, str) and value.startswith("tl.") and hasattr(tl, value[3:]):
        return getattr(tl, value[3:])
    return value
