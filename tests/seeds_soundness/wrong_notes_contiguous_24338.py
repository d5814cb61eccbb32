# ruff: noqa
"""Once: wrong notes, claimed contiguous (number 24338)."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, N, WIDTH: tl.constexpr, BLOCK_M: tl.constexpr):
    i = tl.arange(0, BLOCK_M)
    v = tl.load(x_ptr + tl.minimum(tl.maximum(i // WIDTH, 1), N - 1) * 2 + i)
