# ruff: noqa
"""Once: wrong notes, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, N, BLOCK_N: tl.constexpr):
    offs_1 = tl.minimum(tl.arange(0, BLOCK_N), N)
    pick_2 = (5 - offs_1) % 32
    v_3 = tl.load(y_ptr + pick_2)
