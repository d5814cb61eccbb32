# ruff: noqa
"""Once: wrong axis, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, n_cols, BLOCK_N: tl.constexpr):
    offs_k_4 = tl.arange(0, 8)
    v_5 = tl.load(y_ptr + (tl.arange(0, BLOCK_N)[None, :, None] * 16 + offs_k_4 % 4) % n_cols)
