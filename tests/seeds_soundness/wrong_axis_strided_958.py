# ruff: noqa
"""Once: wrong axis, claimed strided."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, K, BLOCK_N: tl.constexpr, BLOCK_M: tl.constexpr):
    offs_m_3 = tl.arange(0, BLOCK_M)
    offs_n_4 = tl.arange(0, BLOCK_N)
    tl.atomic_add(y_ptr + (tl.where(offs_m_3 < K, offs_m_3, 0)[:, None] + (offs_n_4 + offs_n_4 % K)), 1.0)
