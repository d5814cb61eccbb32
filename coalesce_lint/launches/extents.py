"""Dimensions of size 1: the strides before them are not what the shape of the code suggests.

A contiguous tensor of the shape (batch, channels, 1) has the strides (channels, 1, 1): PyTorch multiplies the
sizes behind a dimension (``torch/csrc`` and the documentation of ``torch.Tensor.stride``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coalesce_lint.launches import views
from coalesce_lint.launches.values import Choice, Number, SizeOf, Tensor, Value

if TYPE_CHECKING:
    from coalesce_lint.launches.strides import Questions

#: Sizes of sizes are followed so far.
DEEPEST = 8


def all_one_behind(questions: Questions, tensor: Tensor, k: int) -> bool | None:
    """Whether the dimensions behind ``k`` are all of size 1: True, False, or None where they may be.

    False where nothing in the host code says so: sizes are taken as more than 1.
    """
    dims = _dims(tensor)
    if not -len(dims) <= k < len(dims) or k in (-1, len(dims) - 1):
        return False
    found = {_is_one(questions, size, 0) for size in dims[k % len(dims) + 1 :]}
    return False if False in found else None if None in found else True


def _dims(tensor: Tensor) -> tuple[Value, ...]:
    """The sizes that the host code gives for the dimensions, () where it gives none."""
    while not tensor.dims and tensor.parent is not None and (
        tensor.origin == "copy" or tensor.view == ("same",)
    ):  # fmt: skip
        tensor = tensor.parent
    return tensor.dims


def _is_one(questions: Questions, size: Value, depth: int) -> bool | None:
    if isinstance(size, Number):
        return size.value == 1
    if isinstance(size, Choice):
        return _agreed({_is_one(questions, o, depth + 1) for o in size.options})
    if isinstance(size, SizeOf):
        return _dimension_is_one(questions, size.tensor, size.dim, depth + 1)
    return False


def _agreed(found: set[bool | None]) -> bool | None:
    return found.pop() if len(found) == 1 else None


def _dimension_is_one(questions: Questions, tensor: Tensor, k: int, depth: int) -> bool | None:
    """Whether dimension ``k`` was added (``unsqueeze``, ``None`` in a subscript) or has a size of its own."""
    if depth > DEEPEST:
        return False
    if tensor.origin == "join":
        asking = [(t, questions.under(known)) for t, known in tensor.arms]
        return _agreed({_dimension_is_one(q, t, k, depth + 1) for t, q in asking})
    dims = _dims(tensor)
    if -len(dims) <= k < len(dims):
        return _is_one(questions, dims[k], depth + 1)
    if tensor.parent is None or tensor.origin == "copy" or tensor.view[:1] == ("reform",):
        return False
    source = views.source_of(tensor.view, k, questions.rank(tensor), questions.rank(tensor.parent))
    if source == ("free",):
        return True
    return source is not None and source[0] == "dim" and (
        _dimension_is_one(questions, tensor.parent, source[1], depth + 1)
    )  # fmt: skip
