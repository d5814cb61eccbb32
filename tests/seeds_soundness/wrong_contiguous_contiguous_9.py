# ruff: noqa
"""Once: wrong contiguous, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def clipped(i, n):
    last = n
    return tl.minimum(i, last)


@triton.jit
def kernel(y_ptr, BLOCK_K: tl.constexpr):
    offs_2 = tl.arange(0, BLOCK_K)
    tl.store(y_ptr + clipped(offs_2, 5), 1.0)
