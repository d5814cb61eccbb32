# ruff: noqa
"""Once: wrong contiguous, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, N, n_cols, BLOCK_K: tl.constexpr):
    offs_5 = tl.arange(0, 16)
    if N > 16:
        pick_6 = offs_5 - 2
    else:
        pick_6 = offs_5 < n_cols
    v_7 = tl.load(z_ptr + pick_6)
