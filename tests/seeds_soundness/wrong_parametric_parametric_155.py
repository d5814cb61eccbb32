# ruff: noqa
"""Once: wrong parametric, claimed parametric."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, height, stride_ym, BLOCK_N: tl.constexpr):
    ptrs_5 = x_ptr + tl.maximum(tl.arange(0, BLOCK_N) % height, 4) * stride_ym
    v_7 = tl.load(ptrs_5)
