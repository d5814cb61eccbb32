"""Where the elements of a tile live: a map from (register, lane, warp) to tile coordinates.

Triton describes every distributed layout as a linear map over GF(2): the coordinate of element (register r,
lane l, warp w) is the XOR of one basis vector for each bit that is set in r, l and w. Zero basis vectors
mean duplicates: several registers, lanes or warps hold the same element (``LinearLayout.h``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod

Bases = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class LinearLayout:
    """Basis vectors (coordinates in elements) for each bit of the register, lane and warp number of a
    thread."""

    shape: tuple[int, ...]
    register: Bases
    lane: Bases
    warp: Bases

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """Row-major strides of the tile, to number its elements."""
        return tuple(prod(self.shape[k + 1 :]) for k in range(len(self.shape)))

    def _numbers(self, bases: Bases) -> list[int]:
        """The element number of every combination of ``bases``. Extents are powers of two, so + is XOR."""
        numbers = [0]
        for basis in bases:
            step = sum(c * s for c, s in zip(basis, self.strides, strict=True))
            numbers += [n ^ step for n in numbers]
        return numbers

    @cached_property
    def register_numbers(self) -> list[int]:
        return self._numbers(self.register)

    @cached_property
    def lane_numbers(self) -> list[int]:
        return self._numbers(self.lane)

    @cached_property
    def warp_numbers(self) -> list[int]:
        return self._numbers(self.warp)

    @cached_property
    def canonical_registers(self) -> list[int]:
        """Registers that hold an element no lower register of the thread holds (others are never
        accessed)."""
        free = sum(1 << k for k, basis in enumerate(self.register) if not any(basis))
        return [r for r in range(1 << len(self.register)) if not r & free]

    def owners(self, kind: str) -> list[bool]:
        """For each lane ("lane") or warp ("warp"): True where it is the one that stores, False for
        duplicates."""
        bases = self.lane if kind == "lane" else self.warp
        free = sum(1 << k for k, basis in enumerate(bases) if not any(basis))
        return [not n & free for n in range(1 << len(bases))]

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Axes from the fastest to the slowest: by first appearance in register, then lane, then warp bases.

        Models ``LinearEncodingAttr::getOrder`` (``orderPerDim`` over the registers, lanes and warps).
        """
        seen: list[int] = []
        for basis in (*self.register, *self.lane, *self.warp):
            for axis, c in enumerate(basis):
                if c and axis not in seen:
                    seen.append(axis)
        return tuple(seen + [a for a in reversed(range(len(self.shape))) if a not in seen])

    def contiguous_registers(self, axis: int) -> int:
        """Elements along ``axis`` that consecutive registers of a thread hold (``getContigPerThread``)."""
        run = 1
        for basis in self.register:
            if basis[axis] != run or sum(map(bool, basis)) != 1:
                break
            run *= 2
        return run

    @property
    def lane_axis(self) -> int | None:
        """The axis of the first lane basis that is not a duplicate, None where all lanes hold the same
        element."""
        for basis in self.lane:
            for axis, c in enumerate(basis):
                if c:
                    return axis
        return None


def _log2(n: int) -> int:
    if n < 1 or n & (n - 1):
        raise ValueError(f"{n} is not a power of two")
    return n.bit_length() - 1


def blocked(
    shape: tuple[int, ...],
    size_per_thread: tuple[int, ...],
    threads_per_warp: tuple[int, ...],
    warps_per_cta: tuple[int, ...],
    order: tuple[int, ...],
) -> LinearLayout:
    """The blocked layout of a tile of ``shape`` (elements; every argument has one entry an axis).

    Models ``BlockedEncodingAttr::toLinearLayout``: an identity over registers, lanes and warps along
    ``order``, cut down to the shape (``ensureLayoutNotLargerThan``: larger bases become duplicates) and
    repeated over the rest of it by further registers, fastest axis first (``ensureLayoutNotSmallerThan``).
    """
    rank = len(shape)
    size = [1] * rank

    def unit(axis: int, value: int) -> tuple[int, ...]:
        return tuple(value if k == axis and value < shape[k] else 0 for k in range(rank))

    groups: list[list[tuple[int, ...]]] = []
    for counts in (size_per_thread, threads_per_warp, warps_per_cta):
        bases = []
        for axis in order:
            for _ in range(_log2(counts[axis])):
                bases.append(unit(axis, size[axis]))
                size[axis] *= 2
        groups.append(bases)
    for axis in order:
        while size[axis] < shape[axis]:
            groups[0].append(unit(axis, size[axis]))
            size[axis] *= 2
    register, lane, warp = (tuple(g) for g in groups)
    return LinearLayout(shape, register, lane, warp)


def sliced(parent: LinearLayout, axis: int) -> LinearLayout:
    """The layout of a tile whose parent has one more axis, of extent 1
    (``SliceEncodingAttr::toLinearLayout``).

    The axis is dropped; registers that only repeated elements along it go, lanes and warps stay as
    duplicates.
    """

    def drop(bases: Bases) -> Bases:
        return tuple(b[:axis] + b[axis + 1 :] for b in bases)

    register = tuple(b for b in drop(parent.register) if any(b))
    shape = parent.shape[:axis] + parent.shape[axis + 1 :]
    return LinearLayout(shape, register, drop(parent.lane), drop(parent.warp))
