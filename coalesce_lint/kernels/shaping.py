"""Functions of the language that make and rearrange tiles: from ``arange`` to ``cat``."""

from __future__ import annotations

from coalesce_lint.access import Place
from coalesce_lint.index.nodes import Node, const
from coalesce_lint.kernels import tiles
from coalesce_lint.kernels.build import broadcast_shapes, dim_of, int_value
from coalesce_lint.kernels.reading import Meaning, Reading
from coalesce_lint.kernels.values import Arguments, Tup, Value
from coalesce_lint.reasons import Reason


def _arange(it: Reading, args: Arguments, place: Place) -> Value:
    start, end = args.get(0, "start"), args.get(1, "end")
    if start is None:
        return it.build.opaque(Reason.ARANGE.why, shape=None)
    if end is None:
        start, end = const(0), start
    a, b = it.number(start), it.number(end)
    extent = b if int_value(a) == 0 else it.build.binary("sub", b, a)
    return it.build.make("arange", (a, b), None, (dim_of(extent),), "i32")


def _full(it: Reading, args: Arguments, place: Place) -> Value:
    shape = it.shape_of(args.get(0, "shape"))
    value = args.get(1, "value", const(0))
    if not isinstance(value, Node):
        value = const(0)
    if shape is None:
        return it.build.opaque(Reason.TILE_SHAPE.why, value, shape=None)
    return it.build.make("broadcast", (value,), None, shape, value.type)


def _zeros(it: Reading, args: Arguments, place: Place) -> Value:
    return _full(it, Arguments([args.get(0, "shape"), const(0)]), place)


def _zeros_like(it: Reading, args: Arguments, place: Place) -> Value:
    x = it.number(args.get(0, "input"))
    return it.build.make("broadcast", (const(0),), None, x.shape)


def _broadcast_to(it: Reading, args: Arguments, place: Place) -> Value:
    x = it.number(args.get(0, "input"))
    rest = args.positional[1:]
    shape = it.shape_of(Tup(rest) if len(rest) > 1 else args.get(1, "shape"))
    if shape is None or x.shape is None:
        return it.build.opaque(Reason.BROADCAST.why, x, shape=None)
    return it.build.make("broadcast", (x,), None, shape, x.type)


def _broadcast(it: Reading, args: Arguments, place: Place) -> Value:
    a, b = it.number(args.get(0, "input")), it.number(args.get(1, "other"))
    shape = broadcast_shapes(a.shape, b.shape)
    return Tup([it.build.make("broadcast", (x,), None, shape, x.type) for x in (a, b)])


def _expand_dims(it: Reading, args: Arguments, place: Place) -> Value:
    x = it.number(args.get(0, "input"))
    axis = args.get(1, "axis", const(0))
    axes = [int_value(a) for a in (axis.items if isinstance(axis, Tup) else [axis])]
    if x.shape is None or None in axes:
        return it.build.opaque(Reason.EXPAND_DIMS.why, x, shape=None)
    rank = len(x.shape) + len(axes)
    for k in sorted(a % rank for a in axes if a is not None):
        x = tiles.expand(it, x, k)
    return x


def _trans(it: Reading, args: Arguments, place: Place) -> Value:
    x = it.number(args.get(0, "input"))
    rest = args.positional[1:] or ([args.keywords["dims"]] if "dims" in args.keywords else [])
    if len(rest) == 1 and isinstance(rest[0], Tup):
        rest = rest[0].items
    order = [int_value(r) for r in rest]
    if None in order:
        return it.build.opaque(Reason.TRANSPOSE.why, x, shape=None)
    return tiles.permute(it, x, [k for k in order if k is not None] or None)


def _reshape(it: Reading, args: Arguments, place: Place) -> Value:
    x = it.number(args.get(0, "input"))
    rest = args.positional[1:]
    return tiles.reshape(it, x, it.shape_of(Tup(rest) if len(rest) > 1 else args.get(1, "shape")))


def _ravel(it: Reading, args: Arguments, place: Place) -> Value:
    x = it.number(args.get(0, "x"))
    if x.shape is None:
        return it.build.opaque(Reason.RAVEL.why, x, shape=None)
    size: Node = const(1)
    for d in x.shape:
        size = it.build.binary("mul", d if isinstance(d, Node) else const(d), size)
    return tiles.reshape(it, x, (dim_of(size),))


def _flip(it: Reading, args: Arguments, place: Place) -> Value:
    x = it.number(args.get(0, "x"))
    return it.build.make("sort", (x,), None, x.shape)


def _join(it: Reading, args: Arguments, place: Place) -> Value:
    a, b = it.number(args.get(0, "a")), it.number(args.get(1, "b"))
    shape = broadcast_shapes(a.shape, b.shape)
    return it.build.make("join", (a, b), None, None if shape is None else (*shape, 2), a.type)


def _interleave(it: Reading, args: Arguments, place: Place) -> Value:
    a, b = it.number(args.get(0, "a")), it.number(args.get(1, "b"))
    shape = broadcast_shapes(a.shape, b.shape)
    if not shape:
        return it.build.opaque(Reason.INTERLEAVE.why, a, b, shape=None)
    last = shape[-1]
    twice = 2 * last if isinstance(last, int) else it.build.binary("mul", last, const(2))
    return it.build.make("interleave", (a, b), None, (*shape[:-1], twice), a.type)


def _split(it: Reading, args: Arguments, place: Place) -> Value:
    x = it.number(args.get(0, "a"))
    shape = x.shape[:-1] if x.shape else None
    return Tup([it.build.make("split", (x,), k, shape, x.type) for k in (0, 1)])


def _cat(it: Reading, args: Arguments, place: Place) -> Value:
    a, b = it.number(args.get(0, "input")), it.number(args.get(1, "other"))
    if not a.shape or not b.shape or len(a.shape) != 1:
        return it.build.opaque(Reason.CAT.why, a, b, shape=None)
    total = it.build.binary(
        "add", *(d if isinstance(d, Node) else const(d) for d in (a.shape[0], b.shape[0]))
    )
    return it.build.make("cat", (a, b), None, (dim_of(total),))


TABLE: dict[str, Meaning] = {
    "arange": _arange,
    "rematerialized_range": _arange,
    "full": _full,
    "zeros": _zeros,
    "ones": _zeros,
    "zeros_like": _zeros_like,
    "full_like": _zeros_like,
    "broadcast_to": _broadcast_to,
    "broadcast": _broadcast,
    "expand_dims": _expand_dims,
    "trans": _trans,
    "permute": _trans,
    "reshape": _reshape,
    "view": _reshape,
    "ravel": _ravel,
    "flip": _flip,
    "join": _join,
    "interleave": _interleave,
    "split": _split,
    "cat": _cat,
}
