# ruff: noqa
"""Once: wrong axis, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, stride_xm, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    v_10 = tl.load(x_ptr + (2 - (tl.arange(0, BLOCK_M)[:, None] * stride_xm + tl.arange(0, BLOCK_N))) % 32)
