"""The arguments of PyTorch's functions: dimensions, shapes, element types, memory formats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from coalesce_lint.launches.values import (
    Choice,
    Each,
    Items,
    Number,
    Reference,
    ShapeOf,
    Star,
    Tensor,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from coalesce_lint.launches.expressions import Evaluator

Args: TypeAlias = "tuple[Value, ...]"
Keywords: TypeAlias = "Mapping[str, Value]"


def integer(value: Value | None) -> int | None:
    if isinstance(value, Number) and isinstance(value.value, int) and not isinstance(value.value, bool):
        return value.value
    return None


def dtype_of(args: Args, kw: Keywords) -> str:
    """The element type that a call names: ``dtype=torch.int64``, ``.to(torch.long)``."""
    for value in (kw.get("dtype"), *args):
        if isinstance(value, Reference) and value.name.startswith("torch."):
            name = value.name.removeprefix("torch.")
            return {"long": "int64", "int": "int32"}.get(name, name)
    return ""


def other_format(kw: Keywords) -> bool:
    """Whether ``memory_format`` asks for an order of its own, such as channels_last."""
    said = kw.get("memory_format")
    return said is not None and not (
        isinstance(said, Reference) and said.name.endswith(("contiguous_format", "preserve_format"))
    )


def dims_of(items: Args, rank: int | None) -> tuple[Value, ...]:
    """The sizes of a shape that is written out, () where it is not."""
    plain = len(items) == rank and not any(isinstance(i, (Star, ShapeOf, Each)) for i in items)
    return tuple(items) if plain else ()


def rank_of_shape(ev: Evaluator, args: Args) -> int | None:
    """How many dimensions a shape has that is given as one sequence or as several numbers."""
    if not args:
        return None
    first = args[0]
    if isinstance(first, (ShapeOf, Items)):
        return ev.length(first)
    if isinstance(first, (Each, Unknown, Tensor, Choice)) and len(args) == 1:
        return None
    count = 0
    for a in args:
        if isinstance(a, Star):
            inner = ev.length(a.value)
            if inner is None:
                return None
            count += inner
        elif isinstance(a, Reference):
            break  # a dtype
        else:
            count += 1
    return count
