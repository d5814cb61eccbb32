"""What the compiler can prove of a value along each axis: contiguity, divisibility, constancy.

Models ``lib/Analysis/AxisInfo.cpp`` of Triton. Along an axis, *contiguity* C is the length of runs x, x+1,
x+2 ..., *divisibility* D the power of two that divides the first value of every run (bytes for pointers),
*constancy* K the length of runs of equal values. Every function here models the visitor of one operation;
``analysis.py`` walks graphs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd, prod

from coalesce_lint.hardware.profiles import Profile

#: The divisibility of 0 (``highestPowOf2Divisor(0)``).
MAX_DIVISOR = 1 << 62


@dataclass(frozen=True)
class Info:
    """Contiguity, divisibility and constancy, one entry an axis (a single one for scalars), and the value
    if known."""

    contiguity: tuple[int, ...]
    divisibility: tuple[int, ...]
    constancy: tuple[int, ...]
    value: int | None = None

    @property
    def rank(self) -> int:
        return len(self.contiguity)


def power_divisor(value: int) -> int:
    """The largest power of two that divides ``value`` (``highestPowOf2Divisor``)."""
    return min(value & -value, MAX_DIVISOR) if value else MAX_DIVISOR


def times(a: int, b: int) -> int:
    """Product of two divisibilities, cut off at that of 0 (``multiplyDivisor``)."""
    return min(a * b, MAX_DIVISOR)


def finish(profile: Profile, info: Info) -> Info:
    """Triton 3.9's constructor: without contiguity an axis's divisibility holds for every element, hence
    everywhere."""
    if not profile.global_divisibility:
        return info
    everywhere = max(
        (d for c, d in zip(info.contiguity, info.divisibility, strict=True) if c == 1), default=1
    )
    divisibility = tuple(max(d, everywhere) for d in info.divisibility)
    return Info(info.contiguity, divisibility, info.constancy, info.value)


def unknown(shape: tuple[int, ...]) -> Info:
    """Nothing is known (``getPessimisticValueState``): loaded values, results of most operations."""
    ones = (1,) * max(len(shape), 1)
    return Info(ones, ones, ones)


def constant(value: int, shape: tuple[int, ...]) -> Info:
    """A constant, splatted to ``shape`` (``ConstantOpAxisInfoVisitor``)."""
    ones = (1,) * max(len(shape), 1)
    return Info(ones, (power_divisor(value),) * len(ones), shape or (1,), value)


def arange(start: int, end: int) -> Info:
    """``tl.arange`` (``MakeRangeOpAxisInfoVisitor``): one run, as divisible as its start."""
    return Info((end - start,), (power_divisor(start),), (1,))


def splat(scalar: Info, shape: tuple[int, ...]) -> Info:
    """A scalar spread over a tile (``SplatOpAxisInfoVisitor``)."""
    return Info((1,) * len(shape), (scalar.divisibility[0],) * len(shape), shape, scalar.value)


def expand(info: Info, axis: int) -> Info:
    """A new axis of extent 1 (``ExpandDimsOpAxisInfoVisitor``): as divisible as every element is."""
    if info.value is not None:
        new = power_divisor(info.value)
    else:
        new = 0
        for c, d in zip(info.contiguity, info.divisibility, strict=True):
            new = gcd(new, 1 if c > 1 else d)
    return Info(
        (*info.contiguity[:axis], 1, *info.contiguity[axis:]),
        (*info.divisibility[:axis], new, *info.divisibility[axis:]),
        (*info.constancy[:axis], 1, *info.constancy[axis:]),
        info.value,
    )


def broadcast(info: Info, old: tuple[int, ...], new: tuple[int, ...]) -> Info:
    """Axes of extent 1 repeated (``BroadcastOpAxisInfoVisitor``)."""
    return Info(
        tuple(1 if o == 1 else c for o, c in zip(old, info.contiguity, strict=True)),
        info.divisibility,
        tuple(n if o == 1 else k for o, n, k in zip(old, new, info.constancy, strict=True)),
        info.value,
    )


def transpose(info: Info, order: tuple[int, ...]) -> Info:
    """``TransOpAxisInfoVisitor``."""
    pick = [tuple(t[k] for k in order) for t in (info.contiguity, info.divisibility, info.constancy)]
    return Info(pick[0], pick[1], pick[2], info.value)


def joined_divisibility(a: Info, b: Info, axis: int) -> int:
    """Divisibility where one of two values is taken (``getDivisibilityFromContiguity``)."""
    ca, cb = a.contiguity[axis], b.contiguity[axis]
    both = gcd(a.divisibility[axis], b.divisibility[axis])
    return both if ca == cb or MAX_DIVISOR in (ca, cb) else gcd(both, ca, cb)


def join(a: Info, b: Info) -> Info:
    """The value of a name after a branch or a loop (``AxisInfo::join``): the gcd of both."""
    axes = range(a.rank)
    return Info(
        tuple(gcd(a.contiguity[k], b.contiguity[k]) for k in axes),
        tuple(joined_divisibility(a, b, k) for k in axes),
        tuple(gcd(a.constancy[k], b.constancy[k]) for k in axes),
        a.value if a.value == b.value else None,
    )


def select(cond: Info, a: Info, b: Info, scalar_condition: bool, clamp: bool, shape: tuple[int, ...]) -> Info:
    """``tl.where`` (``SelectOpAxisInfoVisitor``): as a join, and only as far as the condition is constant."""
    if cond.value is not None:
        return a if cond.value else b
    joined = join(a, b)
    if joined.value is not None:
        return constant(joined.value, shape)
    if scalar_condition:
        return joined
    contiguity = tuple(gcd(c, k) for c, k in zip(joined.contiguity, cond.constancy, strict=True))
    divisibility = joined.divisibility
    if clamp:
        divisibility = tuple(gcd(d, c) for d, c in zip(divisibility, contiguity, strict=True))
    return Info(
        contiguity,
        divisibility,
        tuple(gcd(x, k) for x, k in zip(joined.constancy, cond.constancy, strict=True)),
    )


def extremum(a: Info, b: Info, pick: Callable[[int, int], int], shape: tuple[int, ...]) -> Info:
    """Integer ``minimum`` and ``maximum`` (``MaxMinOpAxisInfoVisitor``)."""
    if a.value is not None and b.value is not None:
        return constant(pick(a.value, b.value), shape)
    joined = join(a, b)
    return Info(joined.contiguity, joined.divisibility, joined.constancy)


def load(pointer: Info, mask: Info | None) -> Info:
    """A loaded value is constant where its pointers and its mask are (``LoadOpAxisInfoVisitor``)."""
    ones = (1,) * pointer.rank
    constancy = pointer.constancy
    if mask is not None and mask.rank == pointer.rank:
        constancy = tuple(gcd(p, m) for p, m in zip(constancy, mask.constancy, strict=True))
    return Info(ones, ones, constancy)


def compare(predicate: str, a: Info, b: Info, shape: tuple[int, ...]) -> Info:
    """A comparison (``CmpOpAxisInfoVisitor``): runs against a constant give runs of equal truth values."""
    if not shape:
        return Info((1,), (1,), (1,))
    constancy = []
    for k, extent in enumerate(shape):
        run = gcd(a.constancy[k], b.constancy[k])
        if a.value is not None and b.value is not None:
            run = extent
        elif predicate in ("gt", "le") and a.constancy[k] == extent:
            run = max(run, gcd(b.contiguity[k], a.divisibility[k], b.divisibility[k]))
        elif predicate in ("lt", "ge") and b.constancy[k] == extent:
            run = max(run, gcd(a.contiguity[k], a.divisibility[k], b.divisibility[k]))
        constancy.append(run)
    ones = (1,) * len(shape)
    return Info(ones, ones, tuple(constancy))


def reshape(profile: Profile, info: Info, old: tuple[int, ...], new: tuple[int, ...]) -> Info:
    """``tl.reshape`` (``ReshapeOpAxisInfoVisitor`` of Triton 3.9): a run survives at the fast end of its
    axis.

    3.6 has no such visitor: nothing is known of the result.
    """
    if not profile.reshape_keeps:
        return unknown(new)
    if info.value is not None:
        return constant(info.value, new)
    everywhere = max(
        (d for c, d in zip(info.contiguity, info.divisibility, strict=True) if c == 1), default=1
    )
    contiguity, divisibility, constancy = [], [], []
    for axis, extent in enumerate(new):
        c, d, k = 1, everywhere, 1
        stride = prod(new[axis + 1 :])
        source = next(
            (s for s in range(len(old)) if prod(old[s + 1 :]) <= stride < prod(old[s:])),
            0,
        )
        source_stride = prod(old[source + 1 :])
        run = info.contiguity[source]
        if run > 1:
            if stride == source_stride:
                c = min(run, extent)
                kept = info.divisibility[source] if c == run else min(info.divisibility[source], c)
                d = max(everywhere, kept)
        elif stride <= source_stride * info.constancy[source]:
            k = min(extent, source_stride * info.constancy[source] // stride)
            left = extent // k
            outer = source - 1
            while info.constancy[source] == old[source] and outer >= 0 and left > 1:
                piece = min(old[outer], left)
                same = min(info.constancy[outer], piece)
                k *= same
                if same < piece:
                    break
                left //= piece
                outer -= 1
        contiguity.append(c)
        divisibility.append(d)
        constancy.append(k)
    return Info(tuple(contiguity), tuple(divisibility), tuple(constancy))
