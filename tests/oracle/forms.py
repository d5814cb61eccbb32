"""The shapes of kernels that the generator writes: flat, tiled, looped, block pointers, branches ..."""

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
    quotient,
    rest,
    scalar,
    sum_of,
)
from .more_forms import MORE
from .rare_forms import RARE
from .writer import Writer


def _mask(w: Writer, x: Expr) -> str | None:
    return f"{x.text} < {w.scope.size().text}" if w.scope.rng.random() < 0.4 else None


def flat(w: Writer) -> None:
    """One axis: offs = pid * BLOCK + arange, changed a few times."""
    rng = w.scope.rng
    axis = w.axis()
    offs = w.name("offs", base_lane(w.scope, axis))
    w.scope.lanes.setdefault(axis, []).append(offs)
    for _ in range(rng.randint(1, 2)):
        x = lane(w.scope, axis, rng.choices((0, 1, 2, 3, 4), (2, 4, 4, 2, 1))[0])
        w.access(w.pointer(), x, _mask(w, offs))


def _placed(x: Expr, position: int, rank: int) -> str:
    index = ", ".join(":" if k == position else "None" for k in range(rank))
    return f"({x.text})[{index}]"


def tile_offset(w: Writer, axes: tuple[Axis, ...], depth: int = 2) -> Expr:
    """Lanes of several axes with a multiplier each, added up."""
    rng = w.scope.rng
    owner = rng.randrange(len(axes))
    total, bound = [], 0
    for k, axis in enumerate(axes):
        x = lane(w.scope, axis, rng.choices((0, 1, 2), (5, 3, 1))[0] if depth else 0)
        part = Expr(_placed(x, k, len(axes)), axes, x.bound)
        if k != owner or rng.random() < 0.4:
            part = product(part, w.scope.factor() if rng.random() < 0.7 else w.scope.stride("mnk"[k]))
        total.append(part.text)
        bound += part.bound
    rng.shuffle(total)
    if rng.random() < 0.5:
        s = product(scalar(w.scope, 1), w.scope.factor())
        total.append(s.text)
        bound += s.bound
    return Expr(f"({' + '.join(total)})", axes, bound)


def tiled(w: Writer) -> None:
    """Two or three axes."""
    rng = w.scope.rng
    rank = rng.choices((2, 3), (5, 1))[0]
    axes = tuple(w.axis(k) for k in range(rank))
    for k, axis in enumerate(axes):
        if rng.random() < 0.7:
            offs = w.name(f"offs_{'mnk'[k]}", base_lane(w.scope, axis))
            w.scope.lanes.setdefault(axis, []).append(offs)
    for _ in range(rng.randint(1, 2)):
        x = tile_offset(w, axes)
        if rng.random() < 0.2:
            x = changed(w.scope, x)
        w.access(w.pointer(), _shaped(w, x), None)


def _shaped(w: Writer, x: Expr) -> Expr:
    """Sometimes transposed, permuted, reshaped or broadcast."""
    rng = w.scope.rng
    kind = rng.random()
    if kind < 0.7 or len(x.axes) < 2:
        return x
    if len(x.axes) == 2 and kind < 0.85:
        text = rng.choice((f"tl.trans({x.text})", f"({x.text}).T", f"tl.permute({x.text}, (1, 0))"))
        return Expr(text, x.axes[::-1], x.bound)
    if len(x.axes) == 3 and kind < 0.85:
        order = rng.sample(range(3), 3)
        return Expr(f"tl.permute({x.text}, {tuple(order)})", tuple(x.axes[k] for k in order), x.bound)
    whole = " * ".join(a.extent for a in x.axes)
    return Expr(f"tl.reshape({x.text}, [{whole}])", (Axis(whole, 1024),), x.bound)


def reshaped(w: Writer) -> None:
    """A flat arange seen as a tile, or halves put together: reshape, join, interleave, cat."""
    rng = w.scope.rng
    kind = rng.random()
    if kind < 0.4:
        a, b = w.axis(0), w.axis(1)
        flat_axis = Axis(f"{a.extent} * {b.extent}", a.most * b.most)
        x = lane(w.scope, flat_axis, rng.choice((0, 0, 1, 2)))
        w.access(w.pointer(), Expr(f"tl.reshape({x.text}, [{a.extent}, {b.extent}])", (a, b), x.bound))
        return
    axis = w.axis()
    x, y = lane(w.scope, axis, 1), lane(w.scope, axis, 1)
    if rng.random() < 0.5:
        x = w.name("half", x)
        y = sum_of(x, number(w.scope, 1, 4)) if rng.random() < 0.6 else y
    bound = max(x.bound, y.bound)
    if kind < 0.6:
        w.access(w.pointer(), Expr(f"tl.join({x.text}, {y.text})", (axis, Axis("2", 2)), bound))
    elif kind < 0.85:
        w.access(w.pointer(), Expr(f"tl.interleave({x.text}, {y.text})", (axis,), bound))
    else:
        w.access(w.pointer(), Expr(f"tl.cat({x.text}, {y.text}, can_reorder=True)", (axis,), bound))


def looped(w: Writer) -> None:
    """A loop over K with carried pointers or offsets, sometimes nested."""
    rng = w.scope.rng
    rank = rng.choice((1, 2, 2))
    axes = tuple(w.axis(k) for k in range(rank))
    x = tile_offset(w, axes, depth=1) if rank > 1 else lane(w.scope, axes[0], rng.choice((0, 1, 2)))
    pointer = w.pointer()
    carried = w.name("ptrs", Expr(f"{pointer} + {x.text}", axes)) if rng.random() < 0.5 else w.name("at", x)
    is_pointer = carried.text.startswith("ptrs")
    variable = w.scope.fresh("k")
    stop = w.scope.size()
    kind = rng.random()
    if kind < 0.2:
        w.line(f"for {variable} in tl.static_range(3):")
    elif kind < 0.4:
        w.line(f"for {variable} in range(0, tl.cdiv({stop.text}, 32)):")
    elif kind < 0.85:
        w.line(f"for {variable} in {rng.choice(('range', 'tl.range'))}(0, {stop.text}, 32):")
    else:
        w.line(f"{variable} = 0")
        w.line(f"while {variable} < 3:")
    w.indent += 1
    scalars, lanes = list(w.scope.scalars), {a: list(v) for a, v in w.scope.lanes.items()}
    w.scope.scalars.append(Expr(variable, (), 130))
    if rng.random() < 0.15 and w.indent < 4:
        looped(w)
    use = Expr(variable, (), 130)
    extra = rng.choice((None, None, product(use, w.scope.factor())))
    if is_pointer:
        w.access(carried.text, extra)
    else:
        w.access(pointer, carried if extra is None else sum_of(carried, extra))
    if not is_pointer and rng.random() < 0.1:
        again = rest(sum_of(carried, number(w.scope, 1, 9)), w.scope.divisor())
        w.line(f"{carried.text} = {again.text}  # again")
    else:
        step = product(scalar(w.scope, 0), w.scope.factor())
        w.line(f"{carried.text} += {step.text}")
    if kind >= 0.85:
        w.line(f"{variable} += 1")
    w.indent -= 1
    w.scope.scalars, w.scope.lanes = scalars, lanes
    if rng.random() < 0.2:
        w.access(*((carried.text, None) if is_pointer else (pointer, carried)))


def branched(w: Writer) -> None:
    """One name with a value from each of two branches: a flag, a runtime condition, ``a if c else b``."""
    rng = w.scope.rng
    axis = w.axis()
    x = w.name("offs", lane(w.scope, axis, rng.choice((0, 1))))
    flag = w.scope.parameter("FLAG", "flag").text
    condition = rng.choice((flag, flag, f"{w.scope.size().text} > 16", f"{scalar(w.scope, 1).text} == 0"))
    one, two = changed_simply(w.scope, x), changed(w.scope, x)
    # Branches must agree in type.
    one, two = (e if "int64" not in e.text else x for e in (one, two))
    kind = rng.random()
    if kind < 0.3:
        y = w.name(
            "pick", Expr(f"{one.text} if {condition} else {two.text}", (axis,), max(one.bound, two.bound))
        )
    else:
        name = w.scope.fresh("pick")
        if kind < 0.5:
            w.line(f"{name} = {one.text}")
            w.line(f"if {condition}:")
        else:
            w.line(f"if {condition}:")
            w.line(f"    {name} = {one.text}")
            w.line("else:")
        w.line(f"    {name} = {two.text}")
        y = Expr(name, (axis,), max(one.bound, two.bound))
    w.access(w.pointer(), y if rng.random() < 0.7 else changed_simply(w.scope, y))


def boxed(w: Writer) -> None:
    """Block pointers and descriptors."""
    rng = w.scope.rng
    a, b = w.axis(0), w.axis(1)
    rows, cols = w.scope.size(), w.scope.size()
    pointer = w.pointer()
    at = [product(scalar(w.scope, 0), Expr(axis.extent, (), axis.most)).text for axis in (a, b)]
    if rng.random() < 0.3:
        desc = w.scope.fresh("desc")
        w.line(
            f"{desc} = tl.make_tensor_descriptor({pointer}, shape=[{rows.text}, {cols.text}], "
            f"strides=[{cols.text} * 4, 1], block_shape=[{a.extent}, {b.extent}])"
        )
        places = (
            f"[{at[0]}, {product(scalar(w.scope, 0), Expr('16', (), 16)).text if rng.random() < 0.5 else 0}]"
        )
        w.line(f"{w.scope.fresh('v')} = {desc}.load({places})")
        return
    choice = rng.random()
    if choice < 0.4:
        strides = f"({w.scope.stride('m').text}, {w.scope.stride('n').text})"
    elif choice < 0.7:
        strides = f"({cols.text}, 1)"
    else:
        strides = f"(1, {rows.text})"
    box = w.scope.fresh("box")
    base = (
        pointer if rng.random() < 0.6 else f"{pointer} + {product(scalar(w.scope, 1), w.scope.factor()).text}"
    )
    order = rng.choice(("(1, 0)", "(0, 1)"))
    w.line(
        f"{box} = tl.make_block_ptr({base}, ({rows.text}, {cols.text}), {strides}, ({at[0]}, {at[1]}), "
        f"({a.extent}, {b.extent}), {order})"
    )
    check = rng.choice(("", ", boundary_check=(0, 1)", ", boundary_check=(1,)"))
    if rng.random() < 0.4:
        w.line(f"for {w.scope.fresh('k')} in range(0, {w.scope.size().text}, 32):")
        w.line(f"    {w.scope.fresh('v')} = tl.load({box}{check})")
        w.line(f"    {box} = tl.advance({box}, (0, {b.extent}))")
    else:
        w.line(f"{w.scope.fresh('v')} = tl.load({box}{check})")


def split_rows(w: Writer) -> None:
    """Convolution-like index arithmetic: one flat lane taken apart by sizes and put together by strides."""
    axis = w.axis()
    x = w.name("flat", base_lane(w.scope, axis))
    outer, inner = w.scope.divisor(), w.scope.divisor()
    low = w.name("low", rest(x, inner))
    middle = w.name("mid", rest(quotient(x, inner), outer))
    high = w.name("high", quotient(quotient(x, inner), outer))
    pitch = product(outer, inner)
    total = sum_of(product(high, pitch), product(middle, inner)) if w.scope.rng.random() < 0.5 else high
    parts = sum_of(total if total.bound < LIMIT else high, low)
    if w.scope.rng.random() < 0.4:
        parts = sum_of(product(low, w.scope.stride()), product(middle, w.scope.stride()))
    w.access(w.pointer(), parts, _mask(w, x))


def swizzled(w: Writer) -> None:
    """Grouped program order, as in matmul kernels, then an ordinary tile."""
    group, size = w.scope.literal(), w.scope.size()
    pid = w.scope.scalars[0]
    first = w.name("first", product(quotient(pid, size), group))
    rows = w.name("rows", Expr(f"tl.minimum({w.scope.size().text} - {first.text}, {group.text})", (), 130))
    m = w.name("pid_m", sum_of(first, Expr(f"({pid.text} % {group.text})", (), 16)))
    w.line(f"{m.text} = {m.text} + {rows.text} * 0")
    w.scope.scalars.append(Expr(m.text, (), 200))
    tiled(w)


def helper_access(w: Writer) -> None:
    """An access inside a helper, called with lanes."""
    rng = w.scope.rng
    w.scope.helpers["fetch"] = (
        "@triton.jit\ndef fetch(p, i, s):\n    return tl.load(p + i * s)\n"
        if rng.random() < 0.5
        else "@triton.jit\ndef fetch(p, i, s):\n    at = p + i\n    return tl.load(at, mask=i < s)\n"
    )
    for _ in range(rng.randint(1, 2)):
        x = lane(w.scope, w.axis(), rng.choice((0, 1, 2)))
        by = w.scope.factor()
        if x.bound * by.bound < LIMIT:
            w.line(f"{w.scope.fresh('v')} = fetch({w.pointer()}, {x.text}, {by.text})")


def compacted(w: Writer) -> None:
    """A running count of a mask as the place to write to."""
    axis = w.axis()
    x = w.name("offs", base_lane(w.scope, axis))
    table = w.scope.parameter("index_ptr", "pointer", "int32").text
    keep = w.scope.fresh("keep")
    w.line(f"{keep} = (tl.load({table} + {x.text}) > {w.scope.rng.randint(0, 40)}).to(tl.int32)")
    place = w.name("place", Expr(f"tl.cumsum({keep}, 0) - 1", (axis,), 32))
    w.access(w.pointer(), place, f"{keep} != 0")


FORMS: dict[str, tuple[float, Callable[[Writer], None]]] = {
    "flat": (10, flat),
    "tiled": (8, tiled),
    "looped": (5, looped),
    "branched": (3, branched),
    "split": (3, split_rows),
    "reshaped": (2, reshaped),
    "boxed": (2, boxed),
    "helper": (2, helper_access),
    "swizzled": (1, swizzled),
    "compacted": (0.5, compacted),
    **RARE,
    **MORE,
}
