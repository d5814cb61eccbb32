# ruff: noqa
"""Once: wrong offset, claimed strided (number 340)."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, x_ptr, N, BLOCK_K: tl.constexpr):
    offs = tl.arange(0, BLOCK_K)
    v = tl.load(tl.where(offs < N, x_ptr + offs, y_ptr + offs * 2))
