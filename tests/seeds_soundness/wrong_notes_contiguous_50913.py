# ruff: noqa
"""Once: wrong notes, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, BLOCK_M: tl.constexpr):
    ptrs_3 = x_ptr + (tl.arange(0, BLOCK_M) // 4 + tl.arange(0, BLOCK_M)) % 4
    v_5 = tl.load(ptrs_3)
