# ruff: noqa
"""Once: wrong notes, claimed contiguous (number 149)."""

import triton
import triton.language as tl


@triton.jit
def kernel(index_ptr, x_ptr, N, BLOCK_N: tl.constexpr):
    flat = tl.arange(0, BLOCK_N)
    row = tl.load(index_ptr + flat // 3, mask=flat < N)
    v = tl.load(x_ptr + (row + flat))
