"""What PyTorch's functions and methods do to the layout of a tensor.

From the documentation of torch.Tensor views and of ``torch.memory_format``: allocations are contiguous unless
told otherwise; ``*_like``, ``clone`` and elementwise operations keep the strides of a dense input
(``torch.preserve_format``); views keep the storage.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from coalesce_lint.launches.values import (
    Choice,
    Each,
    Items,
    Number,
    Reference,
    ShapeOf,
    Sizes,
    Star,
    StridesOf,
    Tensor,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from coalesce_lint.launches.expressions import Evaluator

Args = tuple[Value, ...]
Keywords = Mapping[str, Value]


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
    handler = _VIEW_METHODS.get(name)
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


def _other_format(kw: Keywords) -> bool:
    """Whether ``memory_format`` asks for an order of its own, such as channels_last."""
    said = kw.get("memory_format")
    return said is not None and not (
        isinstance(said, Reference) and said.name.endswith(("contiguous_format", "preserve_format"))
    )


def _row_major(kw: Keywords) -> bool:
    said = kw.get("memory_format")
    return isinstance(said, Reference) and said.name.endswith("contiguous_format")


def allocated(ev: Evaluator, args: Args, kw: Keywords, text: str, line: int) -> Value:
    """A new tensor in the default format."""
    shape = kw.get("size", kw.get("shape"))
    rank = rank_of_shape(ev, (shape,) if shape is not None else args)
    if _other_format(kw):
        return ev.given(text, line, rank=rank)
    return ev.tensor(
        text,
        "fresh",
        line,
        rank=rank,
        why=f"{text} in line {line}",
        dtype=dtype_of((), kw),
        sizes=_literal_sizes((shape,) if shape is not None else args),
    )


def _literal_sizes(args: Args) -> tuple[int | None, ...]:
    items = args[0].items if len(args) == 1 and isinstance(args[0], Items) else args
    return tuple(integer(i) for i in items)


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


def keeping(ev: Evaluator, t: Tensor, args: Args, kw: Keywords, text: str, line: int) -> Value:
    if _row_major(kw):
        return ev.tensor(text, "fresh", line, rank=ev.questions().rank(t), why=f"{text} in line {line}")
    if _other_format(kw):
        return ev.given(text, line, rank=ev.questions().rank(t))
    return ev.tensor(text, "like", line, parent=t, view=("same",), dtype=dtype_of(args, kw))


def _view(
    ev: Evaluator, t: Tensor, view: tuple[object, ...], text: str, line: int, rank: int | None = None
) -> Value:
    return ev.tensor(text, "view", line, parent=t, view=view, rank=rank)


def _contiguous(ev: Evaluator, t: Tensor, args: Args, kw: Keywords, text: str, line: int) -> Value:
    if _other_format(kw):
        return ev.given(text, line, rank=ev.questions().rank(t))
    return ev.tensor(text, "copy", line, parent=t, rank=ev.questions().rank(t), why=f"{text} in line {line}")


def _transposed(ev: Evaluator, t: Tensor, args: Args, kw: Keywords, text: str, line: int) -> Value:
    i, j = (integer(args[k] if len(args) > k else kw.get(f"dim{k}")) for k in (0, 1))
    if i is None or j is None:
        return ev.given(text, line)
    return _view(ev, t, ("swap", i, j), text, line)


def turned(ev: Evaluator, t: Tensor, text: str, line: int) -> Value:
    """``t.t()`` and ``t.T``."""
    return _view(ev, t, ("swap", -2, -1), text, line)


def _t(ev: Evaluator, t: Tensor, args: Args, kw: Keywords, text: str, line: int) -> Value:
    return _view(ev, t, ("swap", -2, -1), text, line, rank=2)


def _permuted(ev: Evaluator, t: Tensor, args: Args, kw: Keywords, text: str, line: int) -> Value:
    given = args[0].items if len(args) == 1 and isinstance(args[0], Items) else args or (kw.get("dims"),)
    if len(given) == 1 and isinstance(given[0], Items):
        given = given[0].items
    order = [integer(g) for g in given]
    if not order or any(k is None for k in order):
        return ev.given(text, line)
    return _view(ev, t, ("order", tuple((k or 0) % len(order) for k in order)), text, line)


def _reshaped(ev: Evaluator, t: Tensor, args: Args, kw: Keywords, text: str, line: int) -> Value:
    if len(args) == 1 and isinstance(args[0], (Reference, Unknown)):
        return _view(ev, t, ("same",), text, line)  # view(dtype)
    shape = kw.get("shape", kw.get("size"))
    return _view(ev, t, ("reform",), text, line, rank_of_shape(ev, (shape,) if shape is not None else args))


def _shaped_like(ev: Evaluator, t: Tensor, args: Args, kw: Keywords, text: str, line: int) -> Value:
    other = args[0] if args else None
    rank = ev.questions().rank(other) if isinstance(other, Tensor) else None
    return _view(ev, t, ("reform",), text, line, rank)


def _flattened(ev: Evaluator, t: Tensor, args: Args, kw: Keywords, text: str, line: int) -> Value:
    start = integer(args[0] if args else kw.get("start_dim", Number(0)))
    end = integer(args[1] if len(args) > 1 else kw.get("end_dim", Number(-1)))
    rank = ev.questions().rank(t)
    new: int | None = None
    if (start, end) == (0, -1):
        new = 1
    elif rank is not None and start is not None and end is not None:
        new = rank - (end % rank - start % rank)
    elif start == 0 and end is not None and end < 0:
        new = -end
    return _view(ev, t, ("reform",), text, line, new)


def _unsqueezed(ev: Evaluator, t: Tensor, args: Args, kw: Keywords, text: str, line: int) -> Value:
    d = integer(args[0] if args else kw.get("dim"))
    return _view(ev, t, ("new", d) if d is not None else ("reform",), text, line)


def _squeezed(ev: Evaluator, t: Tensor, args: Args, kw: Keywords, text: str, line: int) -> Value:
    d = integer(args[0] if args else kw.get("dim"))
    return _view(ev, t, ("drop", d) if d is not None else ("reform",), text, line)


def _selected(ev: Evaluator, t: Tensor, args: Args, kw: Keywords, text: str, line: int) -> Value:
    d = integer(args[0] if args else kw.get("dim"))
    return _view(ev, t, ("drop", d, "one"), text, line) if d is not None else ev.given(text, line)


def _expanded(ev: Evaluator, t: Tensor, args: Args, kw: Keywords, text: str, line: int) -> Value:
    given = args[0].items if len(args) == 1 and isinstance(args[0], Items) else args
    if not given or any(isinstance(g, (Star, ShapeOf, Unknown, Tensor)) for g in given):
        return _view(ev, t, ("grow", None), text, line)
    return _view(ev, t, ("grow", tuple(integer(g) for g in given)), text, line)


def _part(ev: Evaluator, t: Tensor, args: Args, kw: Keywords, text: str, line: int) -> Value:
    d = integer(args[0] if args else kw.get("dim"))
    return _view(ev, t, ("part", d), text, line) if d is not None else ev.given(text, line)


def _parts(ev: Evaluator, t: Tensor, args: Args, kw: Keywords, text: str, line: int) -> Value:
    d = integer(args[1] if len(args) > 1 else kw.get("dim", Number(0)))
    element = _view(ev, t, ("part", d), text, line) if d is not None else ev.given(text, line)
    return Each(element)


def _unbound(ev: Evaluator, t: Tensor, args: Args, kw: Keywords, text: str, line: int) -> Value:
    d = integer(args[0] if args else kw.get("dim", Number(0)))
    element = _view(ev, t, ("drop", d, "one"), text, line) if d is not None else ev.given(text, line)
    return Each(element)


def strided(ev: Evaluator, t: Tensor | None, strides: Value, text: str, line: int) -> Value:
    """A tensor whose strides are given."""
    if not isinstance(strides, Items) or any(isinstance(s, Star) for s in strides.items):
        return ev.given(text, line)
    return ev.tensor(
        text,
        "view",
        line,
        parent=t or ev.given(text, line),
        view=("strides", tuple(integer(s) for s in strides.items)),
    )


def _as_strided(ev: Evaluator, t: Tensor, args: Args, kw: Keywords, text: str, line: int) -> Value:
    return strided(ev, t, args[1] if len(args) > 1 else kw.get("stride", Unknown()), text, line)


_Handler = Callable[["Evaluator", Tensor, Args, Keywords, str, int], Value]
_VIEW_METHODS: dict[str, _Handler] = {
    "contiguous": _contiguous,
    "t": _t,
    "transpose": _transposed,
    "swapaxes": _transposed,
    "swapdims": _transposed,
    "permute": _permuted,
    "view": _reshaped,
    "reshape": _reshaped,
    "view_as": _shaped_like,
    "reshape_as": _shaped_like,
    "unflatten": lambda ev, t, a, k, text, line: _view(ev, t, ("reform",), text, line),
    "ravel": _flattened,
    "flatten": _flattened,
    "unsqueeze": _unsqueezed,
    "squeeze": _squeezed,
    "select": _selected,
    "expand": _expanded,
    "broadcast_to": _expanded,
    "expand_as": lambda ev, t, a, k, text, line: _view(ev, t, ("grow", None), text, line),
    "narrow": _part,
    "chunk": _parts,
    "split": _parts,
    "tensor_split": _parts,
    "unbind": _unbound,
    "as_strided": _as_strided,
}
