"""The permutation of a tensor's memory that turns a stride into stride 1.

With the stride ``s`` and an extent ``E`` (how many steps of ``s`` the walked dimension has), an offset in
elements is split into three digits, ``o = a*(s*E) + b*s + c``, and goes to ``a*(s*P) + c*P + b``. The pitch
``P`` is ``E``, or larger where rows of ``E`` elements would begin within a sector. Two neighbours along the
walked dimension (``b`` and ``b + 1``) become neighbours in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

#: Extents that are not given by a dimension of the tensor are rounded up to a multiple of this.
ROUNDING = 16
SECTOR_BYTES = 32


@dataclass(frozen=True)
class Permutation:
    """``stride``, ``extent``, ``pitch`` and ``length`` (of the permuted region) in elements."""

    stride: int
    extent: int
    pitch: int
    length: int

    @property
    def block(self) -> int:
        """Elements of the original after which the digits ``b`` and ``c`` start anew."""
        return self.stride * self.extent

    @property
    def blocks(self) -> int:
        return -(-self.length // self.block)

    @property
    def new_length(self) -> int:
        """Elements that the permuted tensor takes, the gaps between rows included."""
        return self.blocks * self.stride * self.pitch

    def offsets(self, offsets: np.ndarray) -> np.ndarray:
        """Where the elements at ``offsets`` (non-negative) go."""
        a, rest = np.divmod(offsets, self.block)
        b, c = np.divmod(rest, self.stride)
        return a * (self.stride * self.pitch) + c * self.pitch + b

    def step(self, coefficient: int, folded: bool = False) -> int:
        """What a step of ``coefficient`` elements becomes, as long as no digit overflows.

        With ``folded`` the lowest digit may be negative: ``s - 1`` is then one step forth and one element
        back. Which of the two a kernel means cannot be told from the number; whether digits overflow is for
        the proof to say.
        """
        sign = -1 if coefficient < 0 else 1
        a, rest = divmod(abs(coefficient), self.block)
        b, c = divmod(rest, self.stride)
        if folded and self.is_ambiguous(coefficient):
            b, c = b + 1, c - self.stride
        return sign * (a * self.stride * self.pitch + c * self.pitch + b)

    def is_ambiguous(self, coefficient: int) -> bool:
        """True where the lowest digit is so large that it may be meant as a negative one."""
        return 2 * (abs(coefficient) % self.stride) > self.stride

    def permute(self, source: Any, target: Any) -> None:
        """Copies the elements of ``source`` to their new places in ``target`` (1-d torch tensors).

        ``source`` holds ``length`` elements or more, ``target`` ``new_length``.
        """
        self._copy(target, source, forth=True)

    def restore(self, permuted: Any, target: Any) -> None:
        """The inverse of ``permute``: puts the elements of ``permuted`` back into ``target``."""
        self._copy(permuted, target, forth=False)

    def _copy(self, permuted: Any, plain: Any, forth: bool) -> None:
        whole = self.length // self.block
        new = permuted[: self.new_length].view(self.blocks, self.stride, self.pitch)[:, :, : self.extent]
        new = new.transpose(1, 2)
        pairs = [(new[:whole], plain[: whole * self.block].view(whole, self.extent, self.stride))]
        rest = self.length - whole * self.block
        rows, last = divmod(rest, self.stride)
        at = whole * self.block
        if rows:
            pairs.append((new[whole, :rows], plain[at : at + rows * self.stride].view(rows, self.stride)))
        if last:
            at += rows * self.stride
            pairs.append((new[whole, rows, :last], plain[at : at + last]))
        for there, here in pairs:
            if forth:
                there.copy_(here)
            else:
                here.copy_(there)

    def describe(self) -> str:
        """One line for people."""
        text = f"the dimension of stride {self.stride} (extent {self.extent}) moved innermost"
        return text if self.pitch == self.extent else f"{text}, rows padded to {self.pitch}"


def candidates(
    stride: int, dimensions: list[tuple[int, int]], length: int, element_bytes: int
) -> list[Permutation]:
    """Permutations to try, the natural one first.

    ``dimensions`` are (size, stride) pairs of the tensors in that memory. Natural is the extent of the
    dimension with the stride; the same with rows padded to whole sectors follows where natural rows are not;
    last comes what is always possible.
    """
    found = []
    sizes = sorted({size for size, s in dimensions if s == stride and size > 1}, reverse=True)
    for size in sizes[:1]:
        found.append(Permutation(stride, size, size, length))
        if size * element_bytes % SECTOR_BYTES:
            unit = 128 // element_bytes
            found.append(Permutation(stride, size, -(-size // unit) * unit, length))
    extent = -(-length // stride)
    extent = -(-extent // ROUNDING) * ROUNDING
    if not any(p.extent == extent for p in found):
        found.append(Permutation(stride, extent, extent, length))
    return found
