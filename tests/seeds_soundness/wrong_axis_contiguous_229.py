# ruff: noqa
"""Once: wrong axis, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, M, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    v_2 = tl.load(
        x_ptr + ((0 - tl.arange(0, BLOCK_M) % M)[:, None] + (BLOCK_N + tl.arange(0, BLOCK_N)) // 8 % 3)
    )
