# ruff: noqa
"""Once: wrong offset, claimed parametric."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, n_cols, stride_ym, BLOCK_M: tl.constexpr):
    offs_m_3 = tl.arange(0, BLOCK_M)
    offs_k_7 = tl.arange(0, 8)
    tl.store(z_ptr + ((offs_m_3 // 16)[:, None, None] * stride_ym + tl.minimum(offs_k_7, n_cols) * 64), 1.0)
