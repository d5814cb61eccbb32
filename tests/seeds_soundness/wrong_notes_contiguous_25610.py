# ruff: noqa
"""Once: wrong notes, claimed contiguous (number 25610)."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, N, BLOCK_M: tl.constexpr):
    i = tl.arange(0, BLOCK_M)
    v = tl.load(x_ptr + (tl.minimum(i, N - 1) - 6) % 3 * 2 - i)
