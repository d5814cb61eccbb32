# ruff: noqa
"""Once: wrong contiguous, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n_cols, BLOCK_N: tl.constexpr, FLAG: tl.constexpr):
    offs_3 = tl.arange(0, BLOCK_N) % n_cols
    pick_4 = 0 if FLAG else offs_3 ^ 1
    v_5 = tl.load(x_ptr + pick_4)
