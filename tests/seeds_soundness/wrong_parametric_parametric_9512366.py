# ruff: noqa
"""Once: wrong parametric, claimed parametric (generator seed 9512366)."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, M, stride_xn, BLOCK_M: tl.constexpr):
    offs_m_2 = tl.arange(0, BLOCK_M)
    tl.store(
        x_ptr + tl.reshape(tl.arange(0, 8) // M * stride_xn + (offs_m_2 // M)[:, None], [BLOCK_M * 8]), 1.0
    )
