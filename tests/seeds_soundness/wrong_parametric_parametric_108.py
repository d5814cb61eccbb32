# ruff: noqa
"""Once: wrong parametric, claimed parametric."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, stride_ym, BLOCK_M: tl.constexpr):
    offs_m_1 = tl.arange(0, BLOCK_M)
    tl.store(x_ptr + tl.maximum(offs_m_1, 3) * stride_ym, 1.0)
