# ruff: noqa
"""Once: wrong notes, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, N, n_cols, stride_zn, BLOCK_M: tl.constexpr):
    v_6 = tl.load(
        y_ptr + ((tl.arange(0, BLOCK_M) // N * 64 + tl.arange(0, BLOCK_M)) // n_cols + tl.arange(0, BLOCK_M))
    )
