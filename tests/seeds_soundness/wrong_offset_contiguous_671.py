# ruff: noqa
"""Once: wrong offset, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, K, n_cols, BLOCK_M: tl.constexpr):
    offs_1 = tl.arange(0, BLOCK_M) + 6
    pick_2 = offs_1
    if K == 0:
        pick_2 = offs_1 // n_cols + offs_1
    v_3 = tl.load(y_ptr + pick_2)
