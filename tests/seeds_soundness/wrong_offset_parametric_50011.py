# ruff: noqa
"""Once: wrong offset, claimed parametric."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, K, stride_xm, BLOCK_N: tl.constexpr, BLOCK_M: tl.constexpr):
    ptrs_6 = y_ptr + tl.arange(0, BLOCK_M) * stride_xm
    for i_7 in range(0, K, 48):
        for j_8 in range(0, 2):
            tl.store(ptrs_6, 1.0)
            ptrs_6 += BLOCK_N
    v_9 = tl.load(ptrs_6)
