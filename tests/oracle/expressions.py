"""Random index expressions for the kernel generator: scalars, lanes of one axis, tiles of several.

Every expression carries its shape (a tuple of axes) and a bound on its magnitude, so that products stay
inside 32 bits and the generator never writes a kernel that Triton would refuse for its shapes.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Axis:
    """A tile axis: the text of its extent (a constexpr parameter or a number), and the most that may be."""

    extent: str
    most: int


@dataclass(frozen=True)
class Expr:
    """An index expression: its text, its axes, and a bound of its absolute value."""

    text: str
    axes: tuple[Axis, ...] = ()
    bound: int = 1


@dataclass
class Parameter:
    """A kernel parameter. ``kind``: pointer, size, stride, block, literal (a small constexpr), flag."""

    name: str
    kind: str
    element: str = "float32"

    @property
    def constexpr(self) -> bool:
        return self.kind in ("block", "literal", "flag")


BOUNDS = {"size": 130, "stride": 1100, "block": 128, "literal": 16, "flag": 1}
LIMIT = 1 << 24
DIVISORS = (2, 3, 4, 5, 7, 8, 16, 32)
FACTORS = (2, 3, 4, 5, 8, 16, 33, 64)


@dataclass
class Scope:
    """What an expression may use at one point of the kernel."""

    rng: random.Random
    parameters: dict[str, Parameter] = field(default_factory=dict)
    scalars: list[Expr] = field(default_factory=list)
    lanes: dict[Axis, list[Expr]] = field(default_factory=dict)
    helpers: dict[str, str] = field(default_factory=dict)
    may_load: bool = True
    may_add_parameters: bool = True
    used: int = 0  #: counts the names made up so far

    def fresh(self, stem: str) -> str:
        self.used += 1
        return f"{stem}_{self.used}"

    def parameter(self, name: str, kind: str, element: str = "float32") -> Expr:
        self.parameters.setdefault(name, Parameter(name, kind, element))
        return Expr(name, (), BOUNDS.get(kind, 1))

    def size(self) -> Expr:
        return self.parameter(self.rng.choice(("M", "N", "K", "n_cols", "height", "width")), "size")

    def stride(self, axis: str = "") -> Expr:
        name = self.rng.choice("xyz") + (axis or self.rng.choice("mnk"))
        return self.parameter(f"stride_{name}", "stride")

    def literal(self) -> Expr:
        return self.parameter(self.rng.choice(("GROUP", "WIDTH", "PACK", "HEADS")), "literal")

    def divisor(self) -> Expr:
        """Something positive to divide by: a number, a constexpr, a size."""
        kind = self.rng.random()
        if kind < 0.5 or not self.may_add_parameters:
            value = self.rng.choice(DIVISORS)
            return Expr(str(value), (), value)
        return self.literal() if kind < 0.7 else self.size()

    def factor(self) -> Expr:
        kind = self.rng.random()
        if kind < 0.4 or not self.may_add_parameters:
            value = self.rng.choice(FACTORS)
            return Expr(str(value), (), value)
        return self.rng.choice((self.size, self.stride, self.stride, self.literal))()


def number(scope: Scope, low: int, high: int) -> Expr:
    value = scope.rng.randint(low, high)
    return Expr(str(value), (), abs(value))


def sum_of(a: Expr, b: Expr, sign: str = "+") -> Expr:
    return Expr(f"({a.text} {sign} {b.text})", a.axes or b.axes, a.bound + b.bound)


def product(a: Expr, b: Expr) -> Expr:
    """a * b, or a alone where the product could leave 32 bits."""
    if a.bound * b.bound > LIMIT:
        return a
    return Expr(f"{a.text} * {b.text}", a.axes or b.axes, a.bound * b.bound)


def quotient(a: Expr, b: Expr) -> Expr:
    return Expr(f"({a.text} // {b.text})", a.axes, a.bound)


def rest(a: Expr, b: Expr) -> Expr:
    return Expr(f"({a.text} % {b.text})", a.axes, min(a.bound, b.bound))


def scalar(scope: Scope, depth: int = 2) -> Expr:
    """A random scalar: program ids and names in scope, sizes, numbers, arithmetic of them."""
    rng = scope.rng
    kind = rng.random()
    if depth == 0 or kind < 0.45:
        if scope.scalars and kind < 0.35:
            return rng.choice(scope.scalars)
        if scope.may_add_parameters and kind < 0.42:
            return scope.size()
        return number(scope, 0, 9)
    a = scalar(scope, depth - 1)
    if kind < 0.65:
        return sum_of(a, scalar(scope, depth - 1), rng.choice("+++-"))
    if kind < 0.75:
        return product(a, scope.factor())
    if kind < 0.83:
        return quotient(a, scope.divisor())
    if kind < 0.91:
        return rest(a, scope.divisor())
    if kind < 0.94 and scope.may_add_parameters:
        block = scope.parameter("BLOCK_N", "block")
        return Expr(f"tl.cdiv({scope.size().text}, {block.text})", (), 130)
    if kind < 0.97:
        b = scalar(scope, 0)
        return Expr(f"tl.{rng.choice(('minimum', 'maximum'))}({a.text}, {b.text})", (), max(a.bound, b.bound))
    b = scalar(scope, 0)
    return Expr(f"({a.text} if {scalar(scope, 0).text} > 2 else {b.text})", (), max(a.bound, b.bound))


def base_lane(scope: Scope, axis: Axis) -> Expr:
    """An arange of the axis, plain or moved to the program's place; often one that already has a name."""
    rng = scope.rng
    known = scope.lanes.get(axis, [])
    if known and rng.random() < 0.75:
        return rng.choice(known)
    plain = Expr(f"tl.arange(0, {axis.extent})", (axis,), axis.most)
    if rng.random() < 0.35:
        return plain
    place = scalar(scope, 1)
    return sum_of(product(place, Expr(axis.extent, (), axis.most)), plain)


def lane(scope: Scope, axis: Axis, depth: int) -> Expr:
    """Lanes along one axis, changed up to ``depth`` times."""
    x = base_lane(scope, axis)
    for _ in range(depth):
        x = changed(scope, x)
    return x


def changed(scope: Scope, x: Expr) -> Expr:
    """One random operation on lanes (or a tile) that keeps the shape. Common index arithmetic weighs more."""
    names = list(OPERATIONS)
    weights = [OPERATIONS[n][0] for n in names]
    return OPERATIONS[scope.rng.choices(names, weights)[0]][1](scope, x)


def _recombined(scope: Scope, x: Expr) -> Expr:
    """Split by a width and put together again, with the pitch of something else."""
    width, pitch = scope.divisor(), scope.factor()
    high, low = quotient(x, width), rest(x, width)
    if scope.rng.random() < 0.15:
        high, low = low, high
    return sum_of(product(high, pitch), low)


def _clamped(scope: Scope, x: Expr) -> Expr:
    bound = scope.size() if scope.may_add_parameters else number(scope, 4, 20)
    if scope.rng.random() < 0.7:
        return Expr(f"tl.minimum({x.text}, {bound.text} - 1)", x.axes, x.bound)
    return Expr(f"tl.maximum({x.text}, {number(scope, 0, 6).text})", x.axes, x.bound + 6)


def _chosen(scope: Scope, x: Expr) -> Expr:
    rng = scope.rng
    bound = scope.size() if scope.may_add_parameters else number(scope, 4, 20)
    condition = f"{x.text} < {bound.text}"
    if rng.random() < 0.25:
        period = rng.choice((2, 3, 4, 8, 16))
        condition = f"{x.text} % {period} {rng.choice(('==', '<'))} {rng.randint(0, period - 1)}"
    kind = rng.random()
    other = Expr("0", (), 0) if kind < 0.4 else (changed_simply if kind < 0.75 else changed)(scope, x)
    return Expr(f"tl.where({condition}, {x.text}, {other.text})", x.axes, max(x.bound, other.bound))


def changed_simply(scope: Scope, x: Expr) -> Expr:
    """A step of the cheap kind: plus, minus, times."""
    kind = scope.rng.random()
    if kind < 0.5:
        return sum_of(x, scalar(scope, 1), scope.rng.choice("++-"))
    return product(x, scope.factor())


def _reversed(scope: Scope, x: Expr) -> Expr:
    return sum_of(scalar(scope, 1), x, "-")


def _bits(scope: Scope, x: Expr) -> Expr:
    rng = scope.rng
    kind = rng.choice((">>", "<<", "&", "&", "^", "^", "|"))
    if kind in (">>", "<<"):
        by = rng.randint(1, 3)
        bound = x.bound << by if kind == "<<" else x.bound
        return x if bound > LIMIT else Expr(f"({x.text} {kind} {by})", x.axes, bound)
    mask = rng.choice((1, 3, 7, 15, 2, 4, 5))
    return Expr(f"({x.text} {kind} {mask})", x.axes, 2 * max(x.bound, mask))


def _gathered(scope: Scope, x: Expr) -> Expr:
    if not scope.may_load:
        return x
    table = scope.parameter("index_ptr", "pointer", "int32")
    return Expr(f"tl.load({table.text} + {x.text})", x.axes, 61)


def _hinted(scope: Scope, x: Expr) -> Expr:
    if len(x.axes) != 1:
        return x
    kind = scope.rng.choice(("multiple_of", "max_contiguous"))
    extent = x.axes[0].extent
    return Expr(f"tl.{kind}({x.text}, {extent})", x.axes, x.bound)


def _cast(scope: Scope, x: Expr) -> Expr:
    kind = scope.rng.choice(("tl.int64", "tl.int64", "tl.int32"))
    return Expr(f"({x.text}).to({kind})", x.axes, x.bound)


def _narrowed(scope: Scope, x: Expr) -> Expr:
    """Through a type that may be too small, or without a sign, and usually back."""
    rng = scope.rng
    bits = rng.choice((8, 16, 32))
    sign = "u" if bits == 32 else rng.choice(("", "u"))
    most = 1 << (33 if bits == 32 else bits)  # a negative number becomes a large one
    text = f"({x.text}).to(tl.{sign}int{bits})"
    kind = rng.random()
    if kind < 0.2:
        text = f"({text} + {rng.randint(1, 9)})"
    elif kind < 0.3:
        text = f"({text} - {rng.randint(1, 9)})"
    elif kind < 0.4:
        text = f"({text} // {rng.choice((2, 3, 4, 8))})"
    elif kind < 0.5:
        text = f"({text} % {rng.choice((2, 3, 4, 8))})"
    elif kind < 0.55:
        text = f"tl.minimum({text}, {rng.randint(3, 40)})"
    wide = "tl.int64" if bits == 32 else "tl.int32"
    return Expr(f"{text}.to({wide})" if rng.random() < 0.85 else text, x.axes, most)


def _helped(scope: Scope, x: Expr) -> Expr:
    """Through a helper function of the file."""
    name = scope.rng.choice(list(HELPERS))
    scope.helpers[name] = HELPERS[name]
    other = scope.divisor()
    bound = x.bound * other.bound if name == "scaled" else x.bound + other.bound
    if bound > LIMIT:
        return x
    return Expr(f"{name}({x.text}, {other.text})", x.axes, bound)


HELPERS = {
    "folded": "@triton.jit\ndef folded(i, n):\n    return i % n + (i // n) * n\n",
    "scaled": "@triton.jit\ndef scaled(i, s):\n    j = i * s\n    return j\n",
    "wrapped": "@triton.jit\ndef wrapped(i, n):\n    return i % n\n",
    "clipped": "@triton.jit\ndef clipped(i, n):\n    last = n - 1\n    return tl.minimum(i, last)\n",
    "swapped": "@triton.jit\ndef swapped(i, n):\n    r, c = split_index(i, n)\n    return c * 4 + r\n",
    "moved": "@triton.jit\ndef moved(i, n: tl.constexpr):\n    if n > 4:\n        i += n\n    return i\n",
}
SPLIT_INDEX = "@triton.jit\ndef split_index(i, n):\n    return i // n, i % n\n"

OPERATIONS = {
    "add": (6, lambda s, x: sum_of(x, scalar(s, 1), s.rng.choice("++-"))),
    "times": (5, lambda s, x: product(x, s.factor())),
    "divide": (4, lambda s, x: quotient(x, s.divisor())),
    "modulo": (4, lambda s, x: rest(x, s.divisor())),
    "moved divide": (1.5, lambda s, x: quotient(sum_of(x, number(s, 1, 7), "-"), s.divisor())),
    "moved modulo": (1.5, lambda s, x: rest(sum_of(number(s, 1, 7), x, "-"), s.divisor())),
    "recombine": (3, _recombined),
    "reverse": (1.5, _reversed),
    "clamp": (2, _clamped),
    "choose": (1.5, _chosen),
    "bits": (2.5, _bits),
    "gather": (1, _gathered),
    "hint": (0.7, _hinted),
    "cast": (1, _cast),
    "narrow": (0.7, _narrowed),
    "help": (1.5, _helped),
    "negate": (0.5, lambda s, x: Expr(f"(-{x.text})", x.axes, x.bound)),
}
