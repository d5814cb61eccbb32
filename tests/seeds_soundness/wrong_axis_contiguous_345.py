# ruff: noqa
"""Once: wrong axis, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, n_cols, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, WIDTH: tl.constexpr):
    offs_n_1 = tl.arange(0, BLOCK_N)
    tl.store(
        z_ptr
        + (
            (offs_n_1 * WIDTH + (tl.arange(0, BLOCK_M) // n_cols)[:, None]) // 4
            + (offs_n_1 * WIDTH + (tl.arange(0, BLOCK_M) // n_cols)[:, None])
        ),
        1.0,
    )
