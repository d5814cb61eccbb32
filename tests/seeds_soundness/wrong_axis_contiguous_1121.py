# ruff: noqa
"""Once: wrong axis, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, M, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, PACK: tl.constexpr):
    offs_m_1 = tl.arange(0, BLOCK_M)
    offs_n_2 = tl.arange(0, BLOCK_N)
    tl.store(x_ptr + ((0 - offs_m_1)[:, None] + (offs_n_2 < M) * PACK), 1.0)
