# ruff: noqa
"""Once: wrong offset, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, M, stride_ym, BLOCK_M: tl.constexpr, HEADS: tl.constexpr):
    offs_m_3 = tl.arange(0, BLOCK_M)
    offs_n_4 = tl.arange(0, 4)
    tl.store(x_ptr + ((0 - offs_m_3)[:, None] + tl.where(offs_n_4 < M, offs_n_4, 0) * stride_ym), 1.0)
