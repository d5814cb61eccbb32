# ruff: noqa
"""Once: wrong offset, claimed parametric."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, width, stride_yk, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    offs_m_3 = tl.arange(0, BLOCK_M)
    offs_n_4 = tl.arange(0, BLOCK_N)
    tl.store(
        x_ptr + ((offs_n_4 + tl.minimum(offs_m_3, width)[:, None] * 16) // 5 + offs_n_4 * stride_yk), 1.0
    )
