# ruff: noqa
"""Once: wrong axis, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, height, BLOCK_M: tl.constexpr):
    at_1 = ((8 + tl.arange(0, BLOCK_M)) // 5)[:, None] + tl.arange(0, 16) * 5 % height
    v_3 = tl.load(y_ptr + at_1)
