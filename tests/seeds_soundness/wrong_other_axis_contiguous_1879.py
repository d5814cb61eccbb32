# ruff: noqa
"""Once: wrong other axis, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, stride_xn, BLOCK_M: tl.constexpr):
    offs_m_3 = tl.arange(0, BLOCK_M)
    offs_n_4 = tl.arange(0, 16)
    tl.store(z_ptr + ((0 - offs_n_4 ^ 2) * stride_xn + offs_m_3[:, None]), 1.0)
