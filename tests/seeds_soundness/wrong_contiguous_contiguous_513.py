# ruff: noqa
"""Once: wrong contiguous, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, BLOCK_N: tl.constexpr, WIDTH: tl.constexpr):
    offs_5 = tl.arange(0, BLOCK_N)
    v_6 = tl.load(y_ptr + (offs_5 % WIDTH ^ 1))
