# ruff: noqa
"""Once: wrong offset, claimed parametric."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, N, stride_xm, BLOCK_M: tl.constexpr):
    offs_m_2 = tl.arange(0, BLOCK_M)
    tl.store(
        x_ptr + tl.reshape(tl.maximum(offs_m_2, 4)[:, None] + tl.arange(0, 8) % N * stride_xm, [BLOCK_M * 8]),
        1.0,
    )
