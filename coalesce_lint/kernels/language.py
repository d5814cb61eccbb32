"""The meaning of the functions of ``triton.language`` (and Gluon, and the builtins kernels use), one small function each.

A function is looked up by its last name; whether the name in front means the language follows from the imports. Any
``X.program_id`` is a scalar program id. Functions that are not in the table are opaque if their result could matter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from coalesce_lint.access import Place
from coalesce_lint.index.nodes import Node, const
from coalesce_lint.kernels import memory, tiles
from coalesce_lint.kernels.build import broadcast_shapes, dim_of, int_value
from coalesce_lint.kernels.source import LANGUAGE_NAMES
from coalesce_lint.kernels.values import Arguments, BlockPtr, Bound, Desc, DType, Ref, Tup, Value

if TYPE_CHECKING:
    from coalesce_lint.kernels.expressions import Expressions as It

Meaning = Callable[["It", Arguments, Place], Value]

BUILTINS = frozenset(
    "range len min max int float abs bool tuple list sum isinstance print zip enumerate reversed hasattr getattr "
    "str type round divmod map all any".split()
)
_DTYPES = frozenset(
    "int1 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 float8e4nv float8e5 "
    "float8e4b8 float8e5b16 float8e4b15 void".split()
)
#: Elementwise functions and others whose results are data, never part of a well-formed offset.
_DATA = frozenset(
    "exp exp2 log log2 log10 log1p expm1 sqrt rsqrt sqrt_rn rcp sin cos tan tanh sigmoid erf erfc floor ceil fma abs clamp "
    "softmax dot dot_scaled rand randn randint randint4x rand4x philox umulhi div_rn fdiv pow round rint lgamma "
    "isnan isinf isfinite nan inf silu gelu relu inline_asm_elementwise libdevice_call swish float_to_bits "
    "fast_expf fast_dividef tanh_fast cvt clock globaltimer smid histogram warpgroup_mma mma_v2 wgmma tcgen05_mma "
    "async_dot mfma wmma fp8 exp_fast sinh cosh asin acos atan atan2 frexp ldexp popc clz ffs brev signbit "
    "copysign nearbyint trunc hypot cbrt erfinv acosh asinh atanh".split()
)
_IGNORED = frozenset(
    "static_print device_print static_assert device_assert debug_barrier assume barrier_wait barrier_expect "
    "barrier_arrive mbarrier_wait fence wait commit_group print async_descriptor_store_wait sched_barrier".split()
)


def is_language(path: str) -> bool:
    """True for a dotted path inside the language or a shim of it."""
    parts = path.split(".")
    return "language" in parts or any(p in LANGUAGE_NAMES for p in parts) or "gluon" in parts or parts[0] == "triton"


def named(it: It, base: Ref, name: str) -> Value:
    """An attribute of an imported module."""
    if name in _DTYPES:
        return DType(name)
    return Ref(f"{base.path}.{name}")


def call(it: It, ref: Ref, args: Arguments, place: Place) -> Value:
    """A call of an imported function."""
    name = ref.last
    if ref.path.startswith("builtins."):
        return _builtin(it, name, args)
    if name in ANYWHERE:
        return ANYWHERE[name](it, args, place)
    if is_language(ref.path):
        if name in TABLE:
            return TABLE[name](it, args, place)
        if name in _DTYPES:
            return _cast_to(it, args.get(0, "x"), DType(name))
    module = it.frame.function.module
    fn = it.resolver.function(module, ref.path)
    if fn is not None:
        return it.inline(fn, args, place)
    if name in TABLE and not _foreign(ref):
        return TABLE[name](it, args, place)
    if name.endswith(("Layout", "layout")) or "layouts" in ref.path:
        return DType(name)
    numbers = [a for a in [*args.positional, *args.keywords.values()] if isinstance(a, Node)]
    if name in _DATA or "libdevice" in ref.path or ".math" in ref.path or "tl_math" in ref.path:
        return it.build.data(name, *numbers)
    return it.build.opaque(f"call of {name}", *numbers, shape=None)


def _foreign(ref: Ref) -> bool:
    return ref.path.split(".")[0] in ("torch", "numpy", "math", "os", "functools", "itertools")


def call_method(it: It, bound: Bound, args: Arguments, place: Place) -> Value:
    """A method of a value: ``x.to(tl.int64)`` is ``tl.to(x, tl.int64)``."""
    owner, name = bound.owner, bound.name
    if isinstance(owner, (Desc, Node)) and name in memory.DESCRIPTOR_METHODS:
        done = memory.descriptor_method(it, owner, name, args, place)
        if done is not None:
            return done
    if isinstance(owner, Node):
        merged = Arguments([owner, *args.positional], args.keywords, args.starred, args.call)
        if name in TABLE:
            return TABLE[name](it, merged, place)
        if name in _DATA or name in ("item", "handle"):
            return it.build.data(name, owner)
        return it.build.opaque(f"method {name}", owner, shape=None)
    return it.build.opaque(f"method {name}", shape=None)


# -- builtins ----------------------------------------------------------------------------------------------------------


def _builtin(it: It, name: str, args: Arguments) -> Value:
    p = args.positional
    if name in ("min", "max") and len(p) >= 2:
        out = it.number(p[0])
        for x in p[1:]:
            out = it.build.binary(name, out, it.number(x))
        return out
    if name in ("min", "max") and len(p) == 1 and isinstance(p[0], Tup) and p[0].items:
        return _builtin(it, name, Arguments(p[0].items))
    if name == "len" and p and isinstance(p[0], Tup):
        return const(len(p[0].items))
    if name in ("int", "round", "bool", "float") and p:
        value = p[0]
        if isinstance(value, Node) and value.op == "const" and isinstance(value.attr, (int, float)):
            conversions: dict[str, Callable[[Any], Any]] = {"int": int, "round": round, "bool": bool, "float": float}
            return const(conversions[name](value.attr))
        return value
    if name == "abs" and p:
        return _absolute(it, args, Place("", 0, 0))
    if name in ("tuple", "list"):
        return p[0] if p and isinstance(p[0], Tup) else Tup([])
    if name == "sum" and p and isinstance(p[0], Tup):
        total: Node = const(0)
        for x in p[0].items:
            total = it.build.binary("add", total, it.number(x))
        return total
    if name == "zip" and p and all(isinstance(x, Tup) for x in p):
        return Tup([Tup(list(row)) for row in zip(*(x.items for x in p), strict=False)])
    if name == "enumerate" and p and isinstance(p[0], Tup):
        return Tup([Tup([const(k), x]) for k, x in enumerate(p[0].items)])
    if name == "reversed" and p and isinstance(p[0], Tup):
        return Tup(list(reversed(p[0].items)))
    if name in ("isinstance", "hasattr", "all", "any"):
        return it.build.make("data", (), "condition", (), "i1")
    if name == "print":
        return const(None)
    return it.build.opaque(f"call of {name}", shape=None if name in ("map", "getattr") else ())


# -- program and shape -------------------------------------------------------------------------------------------------


def _program_id(it: It, args: Arguments, place: Place) -> Value:
    return it.build.make("pid", (), int_value(args.get(0, "axis", const(0))), ())


def _num_programs(it: It, args: Arguments, place: Place) -> Value:
    return it.build.make("num_programs", (), int_value(args.get(0, "axis", const(0))), ())


def _arange(it: It, args: Arguments, place: Place) -> Value:
    start, end = args.get(0, "start"), args.get(1, "end")
    if start is None:
        return it.build.opaque("arange", shape=None)
    if end is None:
        start, end = const(0), start
    a, b = it.number(start), it.number(end)
    extent = b if int_value(a) == 0 else it.build.binary("sub", b, a)
    return it.build.make("arange", (a, b), None, (dim_of(extent),), "i32")


def _full(it: It, args: Arguments, place: Place) -> Value:
    shape = it.shape_of(args.get(0, "shape"))
    value = args.get(1, "value", const(0))
    if not isinstance(value, Node):
        value = const(0)
    if shape is None:
        return it.build.opaque("tile of unknown shape", value, shape=None)
    return it.build.make("broadcast", (value,), None, shape, value.type)


def _zeros(it: It, args: Arguments, place: Place) -> Value:
    return _full(it, Arguments([args.get(0, "shape"), const(0)]), place)


def _zeros_like(it: It, args: Arguments, place: Place) -> Value:
    x = it.number(args.get(0, "input"))
    return it.build.make("broadcast", (const(0),), None, x.shape)


def _broadcast_to(it: It, args: Arguments, place: Place) -> Value:
    x = it.number(args.get(0, "input"))
    rest = args.positional[1:]
    shape = it.shape_of(Tup(rest) if len(rest) > 1 else args.get(1, "shape"))
    if shape is None or x.shape is None:
        return it.build.opaque("broadcast to an unknown shape", x, shape=None)
    return it.build.make("broadcast", (x,), None, shape, x.type)


def _broadcast(it: It, args: Arguments, place: Place) -> Value:
    a, b = it.number(args.get(0, "input")), it.number(args.get(1, "other"))
    shape = broadcast_shapes(a.shape, b.shape)
    return Tup([it.build.make("broadcast", (x,), None, shape, x.type) for x in (a, b)])


def _expand_dims(it: It, args: Arguments, place: Place) -> Value:
    x = it.number(args.get(0, "input"))
    axis = args.get(1, "axis", const(0))
    axes = [int_value(a) for a in (axis.items if isinstance(axis, Tup) else [axis])]
    if x.shape is None or None in axes:
        return it.build.opaque("expand_dims", x, shape=None)
    rank = len(x.shape) + len(axes)
    for k in sorted(a % rank for a in axes if a is not None):
        x = tiles.expand(it, x, k)
    return x


def _trans(it: It, args: Arguments, place: Place) -> Value:
    x = it.number(args.get(0, "input"))
    rest = args.positional[1:] or ([args.keywords["dims"]] if "dims" in args.keywords else [])
    if len(rest) == 1 and isinstance(rest[0], Tup):
        rest = rest[0].items
    order = [int_value(r) for r in rest]
    if None in order:
        return it.build.opaque("transpose", x, shape=None)
    return tiles.permute(it, x, [k for k in order if k is not None] or None)


def _reshape(it: It, args: Arguments, place: Place) -> Value:
    x = it.number(args.get(0, "input"))
    rest = args.positional[1:]
    return tiles.reshape(it, x, it.shape_of(Tup(rest) if len(rest) > 1 else args.get(1, "shape")))


def _ravel(it: It, args: Arguments, place: Place) -> Value:
    x = it.number(args.get(0, "x"))
    if x.shape is None:
        return it.build.opaque("ravel", x, shape=None)
    size: Node = const(1)
    for d in x.shape:
        size = it.build.binary("mul", d if isinstance(d, Node) else const(d), size)
    return tiles.reshape(it, x, (dim_of(size),))


def _flip(it: It, args: Arguments, place: Place) -> Value:
    x = it.number(args.get(0, "x"))
    return it.build.make("sort", (x,), None, x.shape)


def _join(it: It, args: Arguments, place: Place) -> Value:
    a, b = it.number(args.get(0, "a")), it.number(args.get(1, "b"))
    shape = broadcast_shapes(a.shape, b.shape)
    return it.build.make("join", (a, b), None, None if shape is None else (*shape, 2), a.type)


def _interleave(it: It, args: Arguments, place: Place) -> Value:
    a, b = it.number(args.get(0, "a")), it.number(args.get(1, "b"))
    shape = broadcast_shapes(a.shape, b.shape)
    if not shape:
        return it.build.opaque("interleave", a, b, shape=None)
    last = shape[-1]
    twice = 2 * last if isinstance(last, int) else it.build.binary("mul", last, const(2))
    return it.build.make("interleave", (a, b), None, (*shape[:-1], twice), a.type)


def _split(it: It, args: Arguments, place: Place) -> Value:
    x = it.number(args.get(0, "a"))
    shape = x.shape[:-1] if x.shape else None
    return Tup([it.build.make("split", (x,), k, shape, x.type) for k in (0, 1)])


def _cat(it: It, args: Arguments, place: Place) -> Value:
    a, b = it.number(args.get(0, "input")), it.number(args.get(1, "other"))
    if not a.shape or not b.shape or len(a.shape) != 1:
        return it.build.opaque("cat", a, b, shape=None)
    total = it.build.binary("add", *(d if isinstance(d, Node) else const(d) for d in (a.shape[0], b.shape[0])))
    return it.build.make("cat", (a, b), None, (dim_of(total),))


# -- arithmetic --------------------------------------------------------------------------------------------------------


def _cdiv(it: It, args: Arguments, place: Place) -> Value:
    a, b = it.number(args.get(0, "x")), it.number(args.get(1, "div"))
    up = it.build.binary("sub", it.build.binary("add", a, b), const(1))
    return it.build.binary("div", up, b)


def _two(op: str) -> Meaning:
    def meaning(it: It, args: Arguments, place: Place) -> Value:
        a, b = args.positional[:2] if len(args.positional) >= 2 else (args.get(0, "x"), args.get(1, "y"))
        return it.build.binary(op, it.number(a), it.number(b))

    return meaning


def _absolute(it: It, args: Arguments, place: Place) -> Value:
    x = it.number(args.get(0, "x"))
    if x.op == "const" and isinstance(x.attr, (int, float)):
        return const(abs(x.attr))
    return it.build.binary("max", x, it.build.make("neg", (x,), None, x.shape, x.type))


def _clamp(it: It, args: Arguments, place: Place) -> Value:
    x = it.build.binary("max", it.number(args.get(0, "x")), it.number(args.get(1, "min")))
    return it.build.binary("min", x, it.number(args.get(2, "max")))


def _where(it: It, args: Arguments, place: Place) -> Value:
    cond = it.number(args.get(0, "condition"))
    a, b = it.number(args.get(1, "x")), it.number(args.get(2, "y"))
    if cond.op != "const" and cond.type != "i1":
        cond = it.build.compare("ne", cond, const(0))
    return it.build.choose("where", cond, a, b)


def _div_floor(it: It, args: Arguments, place: Place) -> Value:
    a, b = it.number(args.get(0, "a")), it.number(args.get(1, "b"))
    if a.op == "const" and b.op == "const":
        return it.build.binary("div", a, b)
    return it.build.make("div", (a, b), "floor", broadcast_shapes(a.shape, b.shape))


def _next_power(it: It, args: Arguments, place: Place) -> Value:
    k = int_value(args.get(0, "n"))
    if k is not None:
        return const(1 << max(k - 1, 0).bit_length())
    x = it.number(args.get(0, "n"))
    return it.build.make("data", (x,), "next_power_of_2", ())


def _cast(it: It, args: Arguments, place: Place) -> Value:
    target = args.get(1, "dtype")
    return _cast_to(it, args.get(0, "input"), target if isinstance(target, DType) else DType())


def _cast_to(it: It, value: Value, target: DType) -> Value:
    x = it.number(value)
    if target.pointer:
        return it.build.make("cast", (x,), "pointer", x.shape, "ptr")
    kind = {"int64": "i64", "uint64": "i64", "int1": "i1"}.get(target.name, x.type if x.type != "i1" else None)
    return it.build.make("cast", (x,), target.name, x.shape, kind)


def _pointer_type(it: It, args: Arguments, place: Place) -> Value:
    inner = args.get(0, "element_ty")
    return DType(inner.name if isinstance(inner, DType) else "", True)


def _hint(kind: str) -> Meaning:
    def meaning(it: It, args: Arguments, place: Place) -> Value:
        x = args.get(0, "input")
        if not isinstance(x, Node):
            return x
        return it.build.make("hint", (x,), (kind, args.get(1, "values")), x.shape, x.type)

    return meaning


def _identity(it: It, args: Arguments, place: Place) -> Value:
    return args.get(0, "input", const(None)) if args.positional else next(iter(args.keywords.values()), const(None))


def _convert_layout(it: It, args: Arguments, place: Place) -> Value:
    return args.get(0, "value", const(None))


def _ignore(it: It, args: Arguments, place: Place) -> Value:
    return const(None)


def _assume(it: It, args: Arguments, place: Place) -> Value:
    cond = args.get(0, "cond")
    if isinstance(cond, Node) and cond.op != "const":
        it.assumed.append(cond)  # type: ignore[attr-defined]
        _forget(it, cond)
    return const(None)


def _forget(it: It, cond: Node) -> None:
    """Comparisons that are only assumed do not make a parameter a size."""
    gone = {id(cond)}
    stack = [cond]
    while stack:
        n = stack.pop()
        gone.add(id(n))
        if n.op in ("cmp", "and", "or", "not"):
            stack.extend(n.args)
    recent = it.build.nodes[-40:]
    it.build.nodes[-40:] = [n for n in recent if not (n.op == "cmp" and id(n) in gone)]


# -- data --------------------------------------------------------------------------------------------------------------


def _elementwise(name: str) -> Meaning:
    def meaning(it: It, args: Arguments, place: Place) -> Value:
        numbers = [a for a in [*args.positional, *args.keywords.values()] if isinstance(a, Node)]
        return it.build.data(name, *numbers)

    return meaning


def _inline_asm(it: It, args: Arguments, place: Place) -> Value:
    packed = args.get(2, "args")
    numbers = [x for x in packed.items if isinstance(x, Node)] if isinstance(packed, Tup) else []
    out = it.build.data("inline_asm", *numbers)
    types = args.get(3, "dtype")
    return Tup([out] * len(types.items)) if isinstance(types, Tup) else out


def _dot(it: It, args: Arguments, place: Place) -> Value:
    a, b = it.number(args.get(0, "input")), it.number(args.get(1, "other"))
    shape = None
    if a.shape is not None and b.shape is not None and len(a.shape) >= 2 and len(b.shape) >= 2:
        shape = (*a.shape[:-1], b.shape[-1])
    return it.build.make("opaque", (), "product of matrices", shape)


def _reduce(kind: str) -> Meaning:
    def meaning(it: It, args: Arguments, place: Place) -> Value:
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


def _reduced(it: It, kind: str, x: Node, axis_value: Value, args: Arguments) -> Node:
    axis = int_value(axis_value)
    if x.shape is None:
        return it.build.opaque(f"{kind} of a tile of unknown shape", x, shape=None if axis is not None else ())
    rank = len(x.shape)
    if axis is None or rank <= 1:
        return it.build.make("reduce", (x,), (kind, 0 if rank == 1 else None), ())
    axis %= rank
    out = it.build.make("reduce", (x,), (kind, axis), x.shape[:axis] + x.shape[axis + 1 :])
    keep = args.keywords.get("keep_dims")
    return tiles.expand(it, out, axis) if keep is not None and int_value(keep) else out


def _scan(kind: str) -> Meaning:
    def meaning(it: It, args: Arguments, place: Place) -> Value:
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


def _sort(it: It, args: Arguments, place: Place) -> Value:
    x = it.number(args.get(0, "x"))
    return it.build.make("sort", (x,), None, x.shape)


def _gather(it: It, args: Arguments, place: Place) -> Value:
    x, i = it.number(args.get(0, "src")), it.number(args.get(1, "index"))
    return it.build.make("data", (i, x), "gather", i.shape)


def _swizzle2d(it: It, args: Arguments, place: Place) -> Value:
    """``tl.swizzle2d(i, j, size_i, size_j, size_g)`` as the language defines it."""
    i, j, size_i, size_j, size_g = (it.number(args.get(k, n)) for k, n in enumerate(("i", "j", "size_i", "size_j", "size_g")))
    b = it.build.binary
    ij = b("add", b("mul", i, size_j), j)
    size_gj = b("mul", size_g, size_j)
    group = b("div", ij, size_gj)
    first = b("mul", group, size_g)
    rows = b("min", b("sub", size_i, first), size_g)
    inside = b("mod", ij, size_gj)
    return Tup([b("add", first, b("mod", inside, rows)), b("div", inside, rows)])


def _map_like(it: It, args: Arguments, place: Place) -> Value:
    numbers = [a for a in args.positional if isinstance(a, Node)]
    return it.build.opaque("map_elementwise", *numbers)


TABLE: dict[str, Meaning] = {
    "arange": _arange,
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
    "cdiv": _cdiv,
    "minimum": _two("min"),
    "maximum": _two("max"),
    "add": _two("add"),
    "sub": _two("sub"),
    "mul": _two("mul"),
    "clamp": _clamp,
    "abs": _absolute,
    "where": _where,
    "next_power_of_2": _next_power,
    "to": _cast,
    "cast": _cast,
    "pointer_type": _pointer_type,
    "multiple_of": _hint("multiple_of"),
    "max_contiguous": _hint("max_contiguous"),
    "max_constancy": _hint("max_constancy"),
    "assume": _assume,
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
    "swizzle2d": _swizzle2d,
    "inline_asm_elementwise": _inline_asm,
    "map_elementwise": _map_like,
    "constexpr": _identity,
    "convert_layout": _convert_layout,
    "require_layout": _convert_layout,
    "set_auto_layout": _convert_layout,
    "item": _identity,
    "tuple": _identity,
    **{name: _elementwise(name) for name in _DATA if name not in ("dot", "dot_scaled", "inline_asm_elementwise", "clamp", "abs")},
    **{name: _ignore for name in _IGNORED if name != "assume"},
    **memory.TABLE,
}
#: Functions whose name alone tells what they are, whatever module they come from.
ANYWHERE: dict[str, Meaning] = {
    "program_id": _program_id,
    "num_programs": _num_programs,
    "div_floor_integer": _div_floor,
    "remainder_integer": lambda it, args, place: it.build.make(
        "mod", (it.number(args.get(0, "a")), it.number(args.get(1, "b"))), "floor"
    ),
    "cdiv": _cdiv,
}

__all__ = ["BUILTINS", "BlockPtr", "call", "call_method", "is_language", "named"]
