"""Functions of the language that mix lanes or make data: products, reductions, scans, sorts, ``exp``."""

from __future__ import annotations

from coalesce_lint.access import Place
from coalesce_lint.index.nodes import Node, const
from coalesce_lint.kernels import tiles
from coalesce_lint.kernels.build import int_value
from coalesce_lint.kernels.reading import Meaning, Reading
from coalesce_lint.kernels.values import Arguments, Tup, Value
from coalesce_lint.kernels.words import words
from coalesce_lint.reasons import Reason

#: Elementwise functions and others whose results are data, never part of a well-formed offset.
DATA = words(
    "exp exp2 log log2 log10 log1p expm1 sqrt rsqrt sqrt_rn rcp sin cos tan tanh sigmoid erf erfc floor "
    "ceil fma abs clamp softmax dot dot_scaled rand randn randint randint4x rand4x philox umulhi div_rn "
    "fdiv pow round rint lgamma isnan isinf isfinite nan inf silu gelu relu inline_asm_elementwise "
    "libdevice_call swish float_to_bits fast_expf fast_dividef tanh_fast cvt clock globaltimer smid "
    "histogram warpgroup_mma mma_v2 wgmma tcgen05_mma async_dot mfma wmma fp8 exp_fast sinh cosh asin "
    "acos atan atan2 frexp ldexp popc clz ffs brev signbit copysign nearbyint trunc hypot cbrt erfinv "
    "acosh asinh atanh"
)


def _elementwise(name: str) -> Meaning:
    def meaning(it: Reading, args: Arguments, place: Place) -> Value:
        numbers = [a for a in [*args.positional, *args.keywords.values()] if isinstance(a, Node)]
        return it.build.data(name, *numbers)

    return meaning


def _inline_asm(it: Reading, args: Arguments, place: Place) -> Value:
    packed = args.get(2, "args")
    numbers = [x for x in packed.items if isinstance(x, Node)] if isinstance(packed, Tup) else []
    out = it.build.data("inline_asm", *numbers)
    types = args.get(3, "dtype")
    return Tup([out] * len(types.items)) if isinstance(types, Tup) else out


def _dot(it: Reading, args: Arguments, place: Place) -> Value:
    a, b = it.number(args.get(0, "input")), it.number(args.get(1, "other"))
    shape = None
    if a.shape is not None and b.shape is not None and len(a.shape) >= 2 and len(b.shape) >= 2:
        shape = (*a.shape[:-1], b.shape[-1])
    return it.build.make("opaque", (), Reason.MATRIX_PRODUCT.why, shape)


def _reduce(kind: str) -> Meaning:
    def meaning(it: Reading, args: Arguments, place: Place) -> Value:
        x = args.get(0, "input")
        axis_value = args.get(1, "axis", const(None))
        pair = "return_indices" in args.keywords
        if isinstance(x, Tup):
            first = x.items[0] if x.items else const(0)
            one = _reduced(it, kind, it.number(first), axis_value, args)
            return Tup([one] * len(x.items))
        out = _reduced(it, kind, it.number(x), axis_value, args)
        return Tup([out, out]) if pair else out

    return meaning


def _reduced(it: Reading, kind: str, x: Node, axis_value: Value, args: Arguments) -> Node:
    axis = int_value(axis_value)
    if x.shape is None:
        return it.build.opaque(Reason.REDUCTION_SHAPE.of(kind), x, shape=None if axis is not None else ())
    rank = len(x.shape)
    if axis is None or rank <= 1:
        return it.build.make("reduce", (x,), (kind, 0 if rank == 1 else None), ())
    axis %= rank
    out = it.build.make("reduce", (x,), (kind, axis), x.shape[:axis] + x.shape[axis + 1 :])
    keep = args.keywords.get("keep_dims")
    return tiles.expand(it, out, axis) if keep is not None and int_value(keep) else out


def _scan(kind: str) -> Meaning:
    def meaning(it: Reading, args: Arguments, place: Place) -> Value:
        x = args.get(0, "input")
        if isinstance(x, Tup):
            items = [it.number(v) for v in x.items]
            return Tup([it.build.make("scan", (v,), (kind, 0), v.shape) for v in items])
        x = it.number(x)
        axis = int_value(args.get(1, "axis", const(0)))
        if x.shape and axis is not None:
            axis %= len(x.shape)
        return it.build.make("scan", (x,), (kind, axis), x.shape)

    return meaning


def _sort(it: Reading, args: Arguments, place: Place) -> Value:
    x = it.number(args.get(0, "x"))
    return it.build.make("sort", (x,), None, x.shape)


def _gather(it: Reading, args: Arguments, place: Place) -> Value:
    x, i = it.number(args.get(0, "src")), it.number(args.get(1, "index"))
    return it.build.make("data", (i, x), "gather", i.shape)


def _map_like(it: Reading, args: Arguments, place: Place) -> Value:
    numbers = [a for a in args.positional if isinstance(a, Node)]
    return it.build.opaque(Reason.MAP.why, *numbers)


TABLE: dict[str, Meaning] = {
    "sum": _reduce("sum"),
    "max": _reduce("max"),
    "min": _reduce("min"),
    "argmax": _reduce("argmax"),
    "argmin": _reduce("argmin"),
    "xor_sum": _reduce("xor_sum"),
    "reduce_or": _reduce("or"),
    "reduce": _reduce("reduce"),
    "cumsum": _scan("cumsum"),
    "cumprod": _scan("cumprod"),
    "associative_scan": _scan("scan"),
    "sort": _sort,
    "topk": _sort,
    "gather": _gather,
    "dot": _dot,
    "dot_scaled": _dot,
    "inline_asm_elementwise": _inline_asm,
    "map_elementwise": _map_like,
    **{
        name: _elementwise(name)
        for name in DATA
        if name not in ("dot", "dot_scaled", "inline_asm_elementwise", "clamp", "abs")
    },
}
