# ruff: noqa
"""Once: wrong notes, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, BLOCK_K: tl.constexpr, HEADS: tl.constexpr):
    offs_6 = tl.arange(0, BLOCK_K)
    tl.store(x_ptr + (offs_6 % 32 // HEADS + offs_6), 1.0)
