# ruff: noqa
"""Once: wrong axis, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, n_cols, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    offs_n_3 = tl.arange(0, BLOCK_N)
    v_4 = tl.load(
        y_ptr
        + (
            (tl.arange(0, BLOCK_M)[:, None] + offs_n_3 * 64) // n_cols
            + (tl.arange(0, BLOCK_M)[:, None] + offs_n_3 * 64)
        )
    )
