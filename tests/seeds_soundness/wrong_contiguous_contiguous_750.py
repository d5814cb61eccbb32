# ruff: noqa
"""Once: wrong contiguous, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, BLOCK_N: tl.constexpr):
    pid = tl
    offs_n_2 = tl.arange(0, BLOCK_N)
    offs_4 = tl.maximum(offs_n_2, 2)
    pick_5 = offs_4
    if pid == 0:
        pick_5 = 32 - offs_4
    v_6 = tl.load(x_ptr + pick_5)
