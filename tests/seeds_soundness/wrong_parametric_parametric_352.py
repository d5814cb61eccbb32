# ruff: noqa
"""Once: wrong parametric, claimed parametric."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, stride_xn, BLOCK_K: tl.constexpr, FLAG: tl.constexpr):
    offs_1 = tl.arange(0, BLOCK_K)
    if FLAG:
        pick_2 = offs_1
    else:
        pick_2 = offs_1 // 4
    tl.store(y_ptr + pick_2 * stride_xn, 1.0)
