# ruff: noqa
"""Once: wrong offset, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, width):
    offs_1 = tl.arange(0, 16)
    v_2 = tl.load(x_ptr + tl.minimum(offs_1 // width % 5 % 4, 1))
