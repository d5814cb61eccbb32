# ruff: noqa
"""Once: wrong notes, claimed contiguous (generator seed 9752194)."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n_cols, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, WIDTH: tl.constexpr):
    tl.store(
        x_ptr
        + (
            -tl.where(
                tl.arange(0, BLOCK_K) < n_cols,
                tl.arange(0, BLOCK_K),
                tl.arange(0, BLOCK_K) // WIDTH + tl.arange(0, BLOCK_K),
            )
            + tl.arange(0, BLOCK_N)[None, :, None]
        ),
        1.0,
    )
