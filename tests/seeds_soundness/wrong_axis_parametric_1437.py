# ruff: noqa
"""Once: wrong axis, claimed parametric."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, stride_xk, BLOCK_N: tl.constexpr, BLOCK_M: tl.constexpr, HEADS: tl.constexpr):
    ptrs_5 = x_ptr + (tl.arange(0, BLOCK_M)[:, None] * stride_xk + tl.arange(0, BLOCK_N) * 8 % HEADS)
    v_8 = tl.load(ptrs_5)
