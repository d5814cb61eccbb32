# ruff: noqa
"""Once: wrong offset, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, width, FLAG: tl.constexpr):
    offs_3 = tl.arange(0, 16)
    if FLAG:
        pick_4 = offs_3
    else:
        pick_4 = offs_3 % width
    tl.store(x_ptr + pick_4, 1.0)
