"""Arguments of a captured launch as plain values, and the memory that they point to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coalesce_lint.verify import closure


def argument(value: Any, tensors: list[Any]) -> dict[str, Any]:
    """One launch argument as plain values. Raises TypeError for what cannot be carried."""
    import torch

    value = closure.constant(value)
    wrapper = None
    if type(value).__name__ == "TensorWrapper":
        wrapper, value = str(value.dtype).removeprefix("torch."), value.base
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return {
            "kind": "tensor",
            "dtype": str(value.dtype).removeprefix("torch."),
            "wrapper": wrapper,
            "size": list(value.size()),
            "stride": list(value.stride()),
            "offset": value.data_ptr() - value.untyped_storage().data_ptr() if value.numel() else 0,
            "address": value.untyped_storage().data_ptr(),
        }
    if isinstance(value, bool):
        return {"kind": "bool", "value": value}
    if isinstance(value, int):
        return {"kind": "int", "value": int(value)}
    if isinstance(value, float):
        return {"kind": "float", "value": value}
    if value is None:
        return {"kind": "none"}
    if isinstance(value, str):
        return {"kind": "str", "value": value}
    if type(value).__name__ == "dtype" and type(value).__module__.startswith("triton"):
        return {"kind": "dtype", "value": str(value)}
    if isinstance(value, tuple):
        return {"kind": "tuple", "values": [argument(v, tensors) for v in value]}
    if type(value).__module__ == "triton.tools.tensor_descriptor":
        return {
            "kind": "descriptor",
            "base": argument(value.base, tensors),
            "shape": [int(n) for n in value.shape],
            "strides": [int(n) for n in value.strides],
            "block_shape": [int(n) for n in value.block_shape],
            "padding": getattr(value, "padding", "zero"),
        }
    raise TypeError(f"an argument of type {type(value).__name__} cannot be carried along")


def tensors_of(specs: Any) -> Iterator[dict[str, Any]]:
    for spec in specs:
        if spec["kind"] == "tensor":
            yield spec
        elif spec["kind"] == "tuple":
            yield from tensors_of(spec["values"])
        elif spec["kind"] == "descriptor":
            yield spec["base"]


def shallow(spec: dict[str, Any]) -> Any:
    """What tells two launches apart: not where their memory lies, only how it is aligned."""
    if spec["kind"] == "tensor":
        address = (spec["address"] + spec["offset"]) % 16
        return (spec["dtype"], tuple(spec["size"]), tuple(spec["stride"]), address)
    if spec["kind"] == "tuple":
        return tuple(shallow(v) for v in spec["values"])
    if spec["kind"] == "descriptor":
        return (shallow(spec["base"]), *(tuple(spec[k]) for k in ("shape", "strides", "block_shape")))
    return spec.get("value")


def write_storage(storage: Any, path: Path) -> None:
    """The bytes of a storage, wherever it lies."""
    import torch

    flat = torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)
    flat.cpu().numpy().tofile(path)
