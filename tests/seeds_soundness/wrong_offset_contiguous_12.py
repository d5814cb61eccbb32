# ruff: noqa
"""Once: wrong offset, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, height, BLOCK_N: tl.constexpr, BLOCK_M: tl.constexpr):
    offs_m_5 = tl.arange(0, BLOCK_M)
    tl.store(x_ptr + (offs_m_5[:, None] + tl.where(BLOCK_N < height, tl.arange(0, BLOCK_N), 8) % 32), 1.0)
