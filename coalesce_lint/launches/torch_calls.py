"""What PyTorch's functions and methods do to the layout of a tensor.

From the documentation of torch.Tensor views and of ``torch.memory_format``: allocations are contiguous unless
told otherwise; ``*_like``, ``clone`` and elementwise operations keep the strides of a dense input
(``torch.preserve_format``); views keep the storage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coalesce_lint.launches.torch_args import (
    Args,
    Keywords,
    dims_of,
    dtype_of,
    integer,
    other_format,
    rank_of_shape,
)
from coalesce_lint.launches.torch_views import VIEW_METHODS, strided
from coalesce_lint.launches.values import (
    Items,
    Number,
    Reference,
    ShapeOf,
    Sizes,
    StridesOf,
    Tensor,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from coalesce_lint.launches.expressions import Evaluator


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Allocations with a shape first: ``torch.empty(shape)``, ``x.new_empty(shape)``.
SHAPED = _words("empty zeros ones rand randn full new_empty new_zeros new_ones new_full")
#: Other allocations in the default format.
FRESH = _words(
    "randint arange linspace logspace eye tensor randperm stack as_tensor mm bmm addmm linear matmul"
)
LIKE = _words("empty_like zeros_like ones_like rand_like randn_like full_like randint_like")
#: Methods whose result keeps the strides of a dense input, or is the tensor itself.
KEEPING = _words(
    "to float half bfloat16 double int long short bool type type_as cuda cpu xpu clone abs exp exp2 log sqrt "
    "rsqrt neg relu sigmoid tanh sin cos square clamp clip round floor ceil add sub mul div pow "
    "masked_fill where nan_to_num pin_memory silu gelu logical_not bitwise_not dequantize"
)
SAME = _words("detach requires_grad_ data alias set_ detach_ share_memory_ view_as_real wait")
VIEWS = _words(
    "t transpose swapaxes swapdims permute view reshape flatten unflatten unsqueeze squeeze select expand "
    "expand_as broadcast_to narrow chunk split tensor_split unbind view_as reshape_as as_strided movedim "
    "ravel contiguous adjoint mT"
)


def call_method(ev: Evaluator, t: Tensor, name: str, args: Args, kw: Keywords, text: str, line: int) -> Value:
    """The value of ``t.name(*args, **kw)``."""
    if name in ("stride", "size"):
        dim = args[0] if args else kw.get("dim")
        if dim is None:
            return StridesOf(t) if name == "stride" else ShapeOf(t)
        k = integer(dim)
        if k is None:
            return Unknown(f"{name} of a dimension that is no number")
        return ev.stride_of(t, k) if name == "stride" else ev.size_of(t, k)
    if name in ("dim", "ndimension"):
        rank = ev.questions().rank(t)
        return Number(rank) if rank is not None else Unknown("number of dimensions")
    if name in ("numel", "nelement"):
        return Sizes()
    if name in (
        "item",
        "tolist",
        "element_size",
        "data_ptr",
        "is_contiguous",
        "get_device",
        "storage_offset",
    ):
        return Unknown(f".{name}()")
    handler = VIEW_METHODS.get(name)
    if handler is not None:
        return handler(ev, t, args, kw, text, line)
    if name in SAME or (name.endswith("_") and not name.endswith("__")):
        return t
    if name == "long":
        return ev.tensor(text, "like", line, parent=t, view=("same",), dtype="int64")
    if name in KEEPING or name in LIKE:
        return keeping(ev, t, args, kw, text, line)
    if name in SHAPED:
        return allocated(ev, args, kw, text, line)
    return ev.given(text, line)


def call_function(ev: Evaluator, name: str, args: Args, kw: Keywords, text: str, line: int) -> Value | None:
    """The value of ``torch.name(*args, **kw)``; None where the function is not known here."""
    if name in SHAPED:
        return allocated(ev, args, kw, text, line)
    if name in FRESH:
        return ev.tensor(
            text, "fresh", line, why=f"{text} in line {line}", rank={"arange": 1, "eye": 2}.get(name)
        )
    first = args[0] if args else kw.get("input")
    if name == "empty_strided" and len(args) > 1:
        return strided(ev, None, args[1], text, line)
    if not isinstance(first, Tensor):
        return None
    if name in LIKE or name in KEEPING:
        return keeping(ev, first, args[1:], kw, text, line)
    if name in VIEWS:
        return call_method(ev, first, name, args[1:], kw, text, line)
    return None


def _row_major(kw: Keywords) -> bool:
    said = kw.get("memory_format")
    return isinstance(said, Reference) and said.name.endswith("contiguous_format")


def allocated(ev: Evaluator, args: Args, kw: Keywords, text: str, line: int) -> Value:
    """A new tensor in the default format."""
    shape = kw.get("size", kw.get("shape"))
    args = (shape,) if shape is not None else args
    rank = rank_of_shape(ev, args)
    if other_format(kw):
        return ev.given(text, line, rank=rank)
    # behind a shape in one sequence stand a fill value or a dtype
    dims = args[0].items if args and isinstance(args[0], Items) else args
    return ev.tensor(
        text,
        "fresh",
        line,
        rank=rank,
        why=f"{text} in line {line}",
        dtype=dtype_of((), kw),
        sizes=tuple(integer(i) for i in dims),
        dims=dims_of(dims, rank),
    )


def keeping(ev: Evaluator, t: Tensor, args: Args, kw: Keywords, text: str, line: int) -> Value:
    if _row_major(kw):
        return ev.tensor(text, "fresh", line, rank=ev.questions().rank(t), why=f"{text} in line {line}")
    if other_format(kw):
        return ev.given(text, line, rank=ev.questions().rank(t))
    return ev.tensor(text, "like", line, parent=t, view=("same",), dtype=dtype_of(args, kw))
