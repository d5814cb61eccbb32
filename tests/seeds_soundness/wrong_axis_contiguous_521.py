# ruff: noqa
"""Once: wrong axis, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, n_cols, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    offs_m_4 = tl.arange(0, BLOCK_M)
    offs_n_5 = tl.arange(0, BLOCK_N)
    tl.store(y_ptr + (tl.where(offs_m_4 < n_cols, 0, offs_m_4)[:, None] + offs_n_5), 1.0)
