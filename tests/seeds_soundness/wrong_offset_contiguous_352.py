# ruff: noqa
"""Once: wrong offset, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, K, height, BLOCK_K: tl.constexpr, WIDTH: tl.constexpr):
    offs_3 = tl.arange(0, BLOCK_K)
    tl.store(z_ptr + (tl.where(offs_3 < K, offs_3, offs_3 + WIDTH) >> 3), 1.0)
