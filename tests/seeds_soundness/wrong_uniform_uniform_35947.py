# ruff: noqa
"""Once: wrong uniform, claimed uniform (number 35947)."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, N, M, BLOCK_M: tl.constexpr):
    i = tl.arange(0, BLOCK_M)
    v = tl.load(x_ptr + tl.minimum((M + i) * 8, N - 1) % 8)
