# ruff: noqa
"""Once: wrong uniform, claimed uniform (number 13706)."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, N, M, BLOCK_M: tl.constexpr):
    i = tl.arange(0, BLOCK_M)
    v = tl.load(x_ptr + (N + i - tl.minimum(tl.program_id(0) * BLOCK_M + i, M - 1) - 3) // 2)
