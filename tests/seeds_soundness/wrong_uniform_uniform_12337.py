# ruff: noqa
"""Once: wrong uniform, claimed uniform (number 12337)."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, N, M, BLOCK_M: tl.constexpr):
    i = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    v = tl.load(x_ptr + (tl.minimum(i, N - 1) - tl.minimum(tl.minimum(i, N - 1), M - 1)) // 7)
