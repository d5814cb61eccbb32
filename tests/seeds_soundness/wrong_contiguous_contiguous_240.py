# ruff: noqa
"""Once: wrong contiguous, claimed contiguous (number 240)."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, x_ptr, BLOCK_N: tl.constexpr):
    offs = tl.arange(0, BLOCK_N)
    tl.store(tl.where(offs % 2 == 0, y_ptr + offs, x_ptr + offs), 1.0)
