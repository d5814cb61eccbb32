# ruff: noqa
"""Once: wrong parametric, claimed parametric."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, stride_xn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    offs_m_3 = tl.arange(0, BLOCK_M)
    tl.store(
        y_ptr + tl.reshape((offs_m_3[:, None] + tl.arange(0, BLOCK_N) * stride_xn) % 7, [BLOCK_M * BLOCK_N]),
        1.0,
    )
