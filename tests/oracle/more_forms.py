"""Forms of kernels that real code has: row tables, local numbers, branches over ranks ..."""

from __future__ import annotations

from collections.abc import Callable

from .expressions import (
    LIMIT,
    Axis,
    Expr,
    base_lane,
    changed,
    changed_simply,
    lane,
    number,
    product,
    rest,
    scalar,
    sum_of,
)
from .writer import Writer

SPREAD = "@triton.jit\ndef spread(i, by=3, *, start: tl.constexpr = 0):\n    return i * by + start\n"


def row_table(w: Writer) -> None:
    """A table indexed by the row of a flattened index, and the columns of that row."""
    rng = w.scope.rng
    axis = w.axis()
    x = w.name("flat", base_lane(w.scope, axis))
    width = w.scope.divisor()
    table = w.scope.parameter("index_ptr", "pointer", "int32").text
    place = f"{table} + {x.text} // {width.text}"
    mask = f", mask={x.text} < {w.scope.size().text}, other=0" if rng.random() < 0.3 else ""
    row = w.name("row", Expr(f"tl.load({place}{mask})  # table", (axis,), 61))
    pitch = width if rng.random() < 0.6 else w.scope.factor()
    column = f"{x.text} % {width.text}" if rng.random() < 0.8 else f"({x.text} + 1) % {width.text}"
    w.access(
        w.pointer(), Expr(f"({row.text} * {pitch.text} + {column})", (axis,), 61 * pitch.bound + width.bound)
    )


def local_numbers(w: Writer) -> None:
    """Numbers that get a name: a runtime value without annotation, a constexpr with one."""
    rng = w.scope.rng
    axis = w.axis()
    plain, fixed = w.scope.fresh("number"), w.scope.fresh("fixed")
    w.line(f"{plain} = {rng.randint(-20, 20)}")
    source = w.scope.literal().text if rng.random() < 0.5 else str(rng.randint(1, 9))
    w.line(f"{fixed}: tl.constexpr = {source} - {rng.randint(0, 12)}")
    if rng.random() < 0.5:
        w.line(f"{plain} -= {rng.randint(0, 9)}")
    if rng.random() < 0.4:
        w.line(f"{plain} = {w.scope.literal().text} - {plain}")
    by = w.scope.divisor().text
    part = rng.choice(
        (f"{plain} // {by}", f"{plain} % {by}", f"{fixed} // {by}", f"({plain} + {fixed}) % {by}")
    )
    x = lane(w.scope, axis, rng.choice((0, 1)))
    w.access(w.pointer(), Expr(f"({x.text} + ({part}) * {w.scope.factor().text})", (axis,), LIMIT))


def ranked(w: Writer) -> None:
    """Branches whose tiles have other extents along one axis: one row, or many."""
    rng = w.scope.rng
    a, b = w.axis(0), w.axis(1)
    m, n = base_lane(w.scope, a), base_lane(w.scope, b)
    flag = w.scope.parameter("FLAG", "flag").text
    ptrs = w.scope.fresh("ptrs")
    base, pitch = w.pointer(), w.scope.stride("m") if rng.random() < 0.5 else w.scope.factor()
    many = product(Expr(f"({m.text})[:, None]", (a,), m.bound), pitch)
    w.line(f"if {flag}:  # ranks")
    w.line(f"    {ptrs} = {base} + {many.text} + ({n.text})[None, :]")
    w.line("else:")
    w.line(f"    {ptrs} = {base} + ({n.text})[None, :] * {rng.choice((1, 1, 2, 3))}")
    w.access(ptrs, None)


def chosen_tile(w: Writer) -> None:
    """``tl.where`` of two tiles of pointers, or of two pointers."""
    rng = w.scope.rng
    axis = w.axis()
    x = w.name("offs", lane(w.scope, axis, rng.choice((0, 1))))
    one, two = w.pointer(), w.pointer()
    if rng.random() < 0.5:
        name = w.scope.fresh("base")
        w.line(f"{name} = tl.where({w.scope.scalars[0].text} > 1, {one}, {two})")
        w.access(name, changed(w.scope, x))
        return
    other = changed_simply(w.scope, x) if rng.random() < 0.5 else x
    bound = w.scope.size().text
    w.access(f"tl.where({x.text} < {bound}, {one} + {x.text}, {two} + {other.text})", None)


def swizzled_programs(w: Writer) -> None:
    """``tl.swizzle2d`` of the program ids, then an ordinary tile."""
    axis = w.axis()
    m, n = w.scope.fresh("sm"), w.scope.fresh("sn")
    pid = w.scope.scalars[0].text
    sizes = f"{w.scope.size().text}, {w.scope.size().text}, {w.scope.literal().text}"
    w.line(f"{m}, {n} = tl.swizzle2d({pid} // 4, {pid} % 4, {sizes})")
    x = Expr(f"({n} * {axis.extent} + tl.arange(0, {axis.extent}))", (axis,), 200 * axis.most)
    w.access(w.pointer(), sum_of(product(Expr(m, (), 200), w.scope.factor()), x))


def spread_lanes(w: Writer) -> None:
    """A helper with a default, a keyword argument and a keyword-only constexpr."""
    rng = w.scope.rng
    w.scope.helpers["spread"] = SPREAD
    axis = w.axis()
    x = lane(w.scope, axis, rng.choice((0, 1)))
    by = w.scope.divisor()
    options = rng.choice(("", f", by={by.text}", f", {by.text}", f", start=2, by={by.text}", ", start=-3"))
    if x.bound * 200 < LIMIT:
        w.access(w.pointer(), Expr(f"spread({x.text}{options})", (axis,), x.bound * 200))


def rebound(w: Writer) -> None:
    """A parameter that gets another value: a length from two loaded ends, a pointer moved to its start."""
    rng = w.scope.rng
    axis = w.axis()
    table = w.scope.parameter("index_ptr", "pointer", "int32").text
    begin, size = w.scope.fresh("begin"), w.scope.size().text
    pid = w.scope.scalars[0].text
    w.line(f"{begin} = tl.load({table} + {pid})")
    w.line(f"{size} = tl.load({table} + {pid} + 1) - {begin}  # rebound")
    pointer = w.pointer()
    if rng.random() < 0.5:
        w.line(f"{pointer} += {begin} * {w.scope.factor().text}")
    x = w.name("offs", base_lane(w.scope, axis))
    w.access(pointer, changed(w.scope, x), f"{x.text} < {size}")


def masked(w: Writer) -> None:
    """Compound masks, and tiles of constants."""
    rng = w.scope.rng
    a, b = w.axis(0), w.axis(1)
    m, n = w.name("offs_m", base_lane(w.scope, a)), w.name("offs_n", base_lane(w.scope, b))
    x = f"({m.text})[:, None] * {w.scope.stride('m').text} + ({n.text})[None, :]"
    if rng.random() < 0.4:
        mask = f"tl.full([{a.extent}, {b.extent}], 1, tl.int1)"
    else:
        size, other = w.scope.size().text, w.scope.size().text
        mask = f"(({m.text})[:, None] < {size}) & (({n.text})[None, :] < {other})"
    w.access(w.pointer(), Expr(f"({x})", (a, b), LIMIT), f"({mask})")


def sorted_lanes(w: Writer) -> None:
    """A sorted tile of indices."""
    axis = w.axis()
    x = lane(w.scope, axis, w.scope.rng.choice((0, 1)))
    w.access(w.pointer(), Expr(f"tl.sort({x.text})", (axis,), x.bound))


def viewed(w: Writer) -> None:
    """Three axes out of one, moved about, and flattened again."""
    rng = w.scope.rng
    a, b = w.axis(0), Axis("4", 4)
    order = rng.sample(range(3), 3)
    whole = Axis(f"{a.extent} * 8", a.most * 8)
    x = lane(w.scope, whole, rng.choice((0, 1, 1)))
    tile = f"tl.permute(tl.reshape({x.text}, [{a.extent}, 2, 4]), ({', '.join(map(str, order))}))"
    axes = (a, Axis("2", 2), b)
    if rng.random() < 0.5:
        w.access(w.pointer(), Expr(f"tl.ravel({tile})", (whole,), x.bound))
        return
    shifted = sum_of(Expr(tile, tuple(axes[k] for k in order), x.bound), number(w.scope, 0, 5))
    w.access(w.pointer(), product(shifted, w.scope.factor()) if rng.random() < 0.3 else shifted)


def summed(w: Writer) -> None:
    """A scalar made by a loop, added to lanes after it."""
    rng = w.scope.rng
    axis = w.axis()
    total, k = w.scope.fresh("total"), w.scope.fresh("k")
    w.line(f"{total} = {scalar(w.scope, 0).text} + 0")
    w.line(f"for {k} in range(0, {w.scope.size().text}, 16):")
    w.line(f"    {total} {rng.choice(('+=', '+=', '-='))} {rng.choice((k, '3', w.scope.literal().text))}")
    x = lane(w.scope, axis, rng.choice((0, 1)))
    w.access(w.pointer(), sum_of(x, product(Expr(total, (), 1000), w.scope.factor())))


def loaded_pointer(w: Writer) -> None:
    """Addresses loaded from a table and cast to pointers: one for the program, or one for each row."""
    rng = w.scope.rng
    table = w.scope.parameter("address_ptr", "pointer", "int64").text
    kind = f"tl.pointer_type({rng.choice(('tl.float32', 'tl.float32', 'tl.float16'))})"
    form = rng.random()
    base = w.scope.fresh("base")
    if form < 0.6:
        place = scalar(w.scope, 1).text
        entry = f"tl.load({table} + {place})"
        w.line(f"{base} = tl.cast({entry}, {kind})" if form < 0.1 else f"{base} = {entry}.to({kind})")
        if rng.random() < 0.3:
            w.line(f"{base} += {product(scalar(w.scope, 1), w.scope.factor()).text}")
        w.access(base, lane(w.scope, w.axis(), rng.choice((0, 1, 2))))
    elif form < 0.85:
        a, b = w.axis(0), w.axis(1)
        w.line(f"{base} = tl.load({table} + {base_lane(w.scope, a).text}).to({kind})")
        x = lane(w.scope, b, rng.choice((0, 1)))
        x = product(x, w.scope.factor()) if rng.random() < 0.3 else x
        w.access(f"{base}[:, None]", Expr(f"({x.text})[None, :]", (a, b), x.bound))
    else:
        axis = w.axis()
        x, width = w.name("flat", base_lane(w.scope, axis)), w.scope.divisor()
        w.line(f"{base} = tl.load({table} + {x.text} // {width.text}).to({kind})")
        w.access(base, rest(x, width))


MORE: dict[str, tuple[float, Callable[[Writer], None]]] = {
    "row table": (1.5, row_table),
    "local numbers": (1, local_numbers),
    "ranked": (1, ranked),
    "chosen tile": (1, chosen_tile),
    "swizzled programs": (0.6, swizzled_programs),
    "spread": (1, spread_lanes),
    "rebound": (1, rebound),
    "masked": (1.5, masked),
    "sorted": (0.4, sorted_lanes),
    "viewed": (1.5, viewed),
    "summed": (1, summed),
    "loaded pointer": (1.2, loaded_pointer),
}
