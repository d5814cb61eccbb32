"""Methods of tensors that give a view, or a copy in row-major order."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from coalesce_lint.launches.torch_args import Args, Keywords, dims_of, integer, other_format, rank_of_shape
from coalesce_lint.launches.values import (
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


def _view(
    ev: Evaluator, t: Tensor, view: tuple[object, ...], text: str, line: int, rank: int | None = None
) -> Value:
    return ev.tensor(text, "view", line, parent=t, view=view, rank=rank)


def _contiguous(ev: Evaluator, t: Tensor, args: Args, kw: Keywords, text: str, line: int) -> Value:
    if other_format(kw):
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
    args = (shape,) if shape is not None else args
    rank = rank_of_shape(ev, args)
    dims = dims_of(args[0].items if args and isinstance(args[0], Items) else args, rank)
    return ev.tensor(text, "view", line, parent=t, view=("reform",), rank=rank, dims=dims)


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


VIEW_METHODS: dict[str, _Handler] = {
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
