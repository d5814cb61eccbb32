"""Rarer shapes of kernels: persistent loops, expand_dims, split halves, chosen pointers, tuple helpers."""

from __future__ import annotations

from collections.abc import Callable

from .expressions import LIMIT, Axis, Expr, base_lane, changed, lane, number, product, scalar, sum_of
from .writer import Writer


def persistent(w: Writer) -> None:
    """Programs that take every num_programs-th tile."""
    axis = w.axis()
    index = w.scope.fresh("tile")
    w.line(f"for {index} in range({w.scope.scalars[0].text}, tl.cdiv({w.scope.size().text}, 16), 7):")
    w.indent += 1
    saved = list(w.scope.scalars)
    w.scope.scalars.append(Expr(index, (), 130))
    start = product(Expr(index, (), 130), Expr(axis.extent, (), axis.most))
    x = w.name("offs", sum_of(start, Expr(f"tl.arange(0, {axis.extent})", (axis,), axis.most)))
    x = changed(w.scope, x) if w.scope.rng.random() < 0.6 else x
    w.access(w.pointer(), x)
    w.indent -= 1
    w.scope.scalars = saved


def expanded(w: Writer) -> None:
    """Axes placed by expand_dims, broadcast_to and reshape instead of indexing with None."""
    rng = w.scope.rng
    a, b = w.axis(0), w.axis(1)
    m, n = lane(w.scope, a, rng.choice((0, 1))), lane(w.scope, b, rng.choice((0, 1)))
    m = product(m, w.scope.stride("m") if rng.random() < 0.5 else w.scope.factor())
    kind = rng.random()
    if kind < 0.4:
        rows, cols = f"tl.expand_dims({m.text}, 1)", f"tl.expand_dims({n.text}, 0)"
    elif kind < 0.7:
        shape = f"[{a.extent}, {b.extent}]"
        rows, cols = f"tl.broadcast_to(({m.text})[:, None], {shape})", f"({n.text})[None, :]"
    else:
        rows, cols = f"tl.reshape({m.text}, [{a.extent}, 1])", f"({n.text}).expand_dims(0)"
    w.access(w.pointer(), Expr(f"({rows} + {cols})", (a, b), m.bound + n.bound))


def halved(w: Writer) -> None:
    """The even and odd lanes of a range, by split of a reshape."""
    axis = w.axis(0)
    whole = Axis(f"{axis.extent} * 2", axis.most * 2)
    x = lane(w.scope, whole, w.scope.rng.choice((0, 1)))
    even, odd = w.scope.fresh("even"), w.scope.fresh("odd")
    w.line(f"{even}, {odd} = tl.split(tl.reshape({x.text}, [{axis.extent}, 2]))")
    w.access(w.pointer(), Expr(even, (axis,), x.bound))
    w.access(w.pointer(), Expr(odd, (axis,), x.bound))


def chosen_pointer(w: Writer) -> None:
    """One of two pointers, by a flag or a runtime condition."""
    rng = w.scope.rng
    axis = w.axis()
    flag = w.scope.parameter("FLAG", "flag").text
    condition = flag if rng.random() < 0.5 else f"{w.scope.size().text} > 16"
    one, two = w.pointer(), w.pointer()
    name = w.scope.fresh("base")
    by = product(scalar(w.scope, 1), w.scope.factor())
    if rng.random() < 0.5:
        w.line(f"{name} = {one} if {condition} else {two} + {by.text}")
    else:
        w.line(f"{name} = {one}")
        w.line(f"if {condition}:")
        w.line(f"    {name} = {two} + {by.text}")
    w.access(name, lane(w.scope, axis, rng.choice((0, 1, 2))))


def tuple_helper(w: Writer) -> None:
    """A helper that returns lanes and a moved pointer."""
    rng = w.scope.rng
    w.scope.helpers["placed"] = (
        "@triton.jit\ndef placed(p, pid, s, n, B: tl.constexpr):\n"
        "    i = pid * B + tl.arange(0, B)\n    q = p + (pid % 3) * s\n"
        f"    return q, {rng.choice(('i', 'i * s', 'i % n', 'i // 2', 'n - i'))}, i < n\n"
    )
    axis = w.axis(rng.randrange(3))
    moved, offs, mask = w.scope.fresh("q"), w.scope.fresh("offs"), w.scope.fresh("mask")
    arguments = f"{w.pointer()}, {w.scope.scalars[0].text}, {w.scope.stride().text}, {w.scope.size().text}"
    w.line(f"{moved}, {offs}, {mask} = placed({arguments}, {axis.extent})")
    w.access(moved, Expr(offs, (axis,), 1 << 14), mask)


def nested(w: Writer) -> None:
    """Two loops that both move a tile pointer, the inner one counted back at its end."""
    rng = w.scope.rng
    a, b = w.axis(0), w.axis(1)
    m, n = base_lane(w.scope, a), base_lane(w.scope, b)
    outer, inner = w.scope.stride("m"), w.scope.stride("n")
    p = w.scope.fresh("ptrs")
    w.line(f"{p} = {w.pointer()} + ({m.text})[:, None] * {outer.text} + ({n.text})[None, :] * {inner.text}")
    w.line(f"for {w.scope.fresh('i')} in range(0, {w.scope.size().text}, 48):")
    w.line(f"    for {w.scope.fresh('j')} in range(0, 2):")
    w.indent += 2
    w.access(p, None)
    w.line(f"{p} += {b.extent} * {inner.text}")
    w.indent -= 1
    w.line(f"{p} += {a.extent} * {outer.text} - 2 * {b.extent} * {inner.text}")
    w.indent -= 1
    if rng.random() < 0.3:
        w.access(p, None)


def unrolled(w: Writer) -> None:
    """A static loop whose variable is a constexpr: it folds, divides as Python does, and decides branches."""
    rng = w.scope.rng
    axis = w.axis()
    x = w.name("offs", base_lane(w.scope, axis))
    k = w.scope.fresh("k")
    w.line(f"for {k} in tl.static_range({rng.choice((2, 3, 4))}):")
    w.indent += 1
    kind = rng.random()
    if kind < 0.35:
        y = Expr(f"({x.text} * 4 + {k})", (axis,), 4 * x.bound + 4)
    elif kind < 0.6:
        y = Expr(f"({x.text} + ({k} - 3) // 2 * {axis.extent})", (axis,), x.bound + 64)
    elif kind < 0.8:
        y = Expr(f"({x.text} * (1 if {k} == 0 else {w.scope.factor().text}))", (axis,), LIMIT)
    else:
        y = Expr(f"(({x.text} >> {k}) & 3)", (axis,), 4)
    w.access(w.pointer(), y)
    w.indent -= 1


def dotted(w: Writer) -> None:
    """Offsets that come from a reduction or a scan of index arithmetic."""
    rng = w.scope.rng
    a, b = w.axis(0), w.axis(1)
    m = lane(w.scope, a, 0)
    kind = rng.random()
    if kind < 0.35:
        grid = f"({m.text})[:, None] + tl.arange(0, {b.extent})[None, :]"
        x = Expr(f"tl.max({grid}, axis=1)", (a,), m.bound + b.most)
    elif kind < 0.7:
        ones = f"tl.full([{a.extent}], {rng.choice((1, 1, 2, 3))}, tl.int32)"
        x = sum_of(Expr(f"tl.cumsum({ones}, 0)", (a,), 3 * a.most), number(w.scope, 0, 3), "-")
    else:
        x = Expr(f"tl.flip({m.text}, 0)", (a,), m.bound)
    w.access(w.pointer(), x)


RARE: dict[str, tuple[float, Callable[[Writer], None]]] = {
    "persistent": (1.5, persistent),
    "expanded": (1.5, expanded),
    "halved": (0.7, halved),
    "chosen pointer": (1, chosen_pointer),
    "tuple helper": (1.2, tuple_helper),
    "nested": (1, nested),
    "unrolled": (1, unrolled),
    "dotted": (0.8, dotted),
}
