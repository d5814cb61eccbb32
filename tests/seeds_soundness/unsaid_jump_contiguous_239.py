# ruff: noqa
"""Once: unsaid jump, claimed contiguous (number 239)."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, x_ptr, n_cols, BLOCK_N: tl.constexpr):
    offs = tl.arange(0, BLOCK_N)
    tl.store(tl.where(offs < n_cols, y_ptr + offs, x_ptr + offs), 1.0)
