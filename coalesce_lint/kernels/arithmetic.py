"""Functions of the language that compute lane by lane: arithmetic, choices, casts, hints."""

from __future__ import annotations

from coalesce_lint.access import Place
from coalesce_lint.index.nodes import Node, const
from coalesce_lint.kernels.build import broadcast_shapes, int_value
from coalesce_lint.kernels.reading import Meaning, Reading
from coalesce_lint.kernels.values import Arguments, DType, Tup, Value
from coalesce_lint.reasons import Reason


def cdiv(it: Reading, args: Arguments, place: Place) -> Value:
    a, b = it.number(args.get(0, "x")), it.number(args.get(1, "div"))
    up = it.build.binary("sub", it.build.binary("add", a, b), const(1))
    return it.build.binary("div", up, b)


def _two(op: str) -> Meaning:
    def meaning(it: Reading, args: Arguments, place: Place) -> Value:
        a, b = args.positional[:2] if len(args.positional) >= 2 else (args.get(0, "x"), args.get(1, "y"))
        return it.build.binary(op, it.number(a), it.number(b))

    return meaning


def absolute(it: Reading, args: Arguments, place: Place) -> Value:
    x = it.number(args.get(0, "x"))
    if x.op == "const" and isinstance(x.attr, (int, float)):
        return const(abs(x.attr), x.static)
    return it.build.binary("max", x, it.build.make("neg", (x,), None, x.shape, x.type))


def _clamp(it: Reading, args: Arguments, place: Place) -> Value:
    x = it.build.binary("max", it.number(args.get(0, "x")), it.number(args.get(1, "min")))
    return it.build.binary("min", x, it.number(args.get(2, "max")))


def _where(it: Reading, args: Arguments, place: Place) -> Value:
    cond = it.number(args.get(0, "condition"))
    a, b = it.number(args.get(1, "x")), it.number(args.get(2, "y"))
    if cond.op != "const" and cond.type != "i1":
        cond = it.build.compare("ne", cond, const(0))
    return it.build.choose("where", cond, a, b)


def div_floor(it: Reading, args: Arguments, place: Place) -> Value:
    a, b = it.number(args.get(0, "a")), it.number(args.get(1, "b"))
    if a.op == "const" and b.op == "const":
        return it.build.binary("div", a, b)
    return it.build.make("div", (a, b), "floor", broadcast_shapes(a.shape, b.shape))


def _next_power(it: Reading, args: Arguments, place: Place) -> Value:
    k = int_value(args.get(0, "n"))
    if k is not None:
        return const(1 << max(k - 1, 0).bit_length())
    x = it.number(args.get(0, "n"))
    return it.build.make("data", (x,), "next_power_of_2", ())


def _cast(it: Reading, args: Arguments, place: Place) -> Value:
    target = args.get(1, "dtype")
    bits = args.get(3, "bitcast", args.get(2, "bitcast"))
    pointer = isinstance(target, DType) and target.pointer
    if isinstance(bits, Node) and bits.op == "const" and bits.attr and not pointer:
        return it.build.opaque(Reason.BIT_CAST.why, it.number(args.get(0, "input")))
    return cast_to(it, args.get(0, "input"), target if isinstance(target, DType) else DType())


def cast_to(it: Reading, value: Value, target: DType) -> Value:
    x = it.number(value)
    if target.pointer:
        return it.build.make("cast", (x,), "pointer", x.shape, "ptr")
    kind = _KINDS.get(target.name)
    return it.build.make("cast", (x,), target.name, x.shape, kind)


_KINDS = {
    "int1": "i1",
    **{f"{sign}int{bits}": f"{sign or 'i'}{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}


def _pointer_type(it: Reading, args: Arguments, place: Place) -> Value:
    inner = args.get(0, "element_ty")
    return DType(inner.name if isinstance(inner, DType) else "", True)


def _hint(kind: str) -> Meaning:
    def meaning(it: Reading, args: Arguments, place: Place) -> Value:
        x = args.get(0, "input")
        if not isinstance(x, Node):
            return x
        return it.build.make("hint", (x,), (kind, args.get(1, "values")), x.shape, x.type)

    return meaning


def _identity(it: Reading, args: Arguments, place: Place) -> Value:
    return (
        args.get(0, "input", const(None))
        if args.positional
        else next(iter(args.keywords.values()), const(None))
    )


def _convert_layout(it: Reading, args: Arguments, place: Place) -> Value:
    return args.get(0, "value", const(None))


def _assume(it: Reading, args: Arguments, place: Place) -> Value:
    cond = args.get(0, "cond")
    if isinstance(cond, Node) and cond.op != "const":
        it.assumed.append(cond)
        _forget(it, cond)
    return const(None)


def _forget(it: Reading, cond: Node) -> None:
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


def _swizzle2d(it: Reading, args: Arguments, place: Place) -> Value:
    """``tl.swizzle2d(i, j, size_i, size_j, size_g)`` as the language defines it."""
    i, j, size_i, size_j, size_g = (
        it.number(args.get(k, n)) for k, n in enumerate(("i", "j", "size_i", "size_j", "size_g"))
    )
    b = it.build.binary
    ij = b("add", b("mul", i, size_j), j)
    size_gj = b("mul", size_g, size_j)
    group = b("div", ij, size_gj)
    first = b("mul", group, size_g)
    rows = b("min", b("sub", size_i, first), size_g)
    inside = b("mod", ij, size_gj)
    return Tup([b("add", first, b("mod", inside, rows)), b("div", inside, rows)])


TABLE: dict[str, Meaning] = {
    "cdiv": cdiv,
    "minimum": _two("min"),
    "maximum": _two("max"),
    "add": _two("add"),
    "sub": _two("sub"),
    "mul": _two("mul"),
    "clamp": _clamp,
    "abs": absolute,
    "where": _where,
    "next_power_of_2": _next_power,
    "to": _cast,
    "cast": _cast,
    "pointer_type": _pointer_type,
    "multiple_of": _hint("multiple_of"),
    "max_contiguous": _hint("max_contiguous"),
    "max_constancy": _hint("max_constancy"),
    "assume": _assume,
    "swizzle2d": _swizzle2d,
    "constexpr": _identity,
    "convert_layout": _convert_layout,
    "require_layout": _convert_layout,
    "set_auto_layout": _convert_layout,
    "item": _identity,
    "assume_uniform": _identity,
    "tuple": _identity,
}
