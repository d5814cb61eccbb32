# ruff: noqa
"""Once: wrong axis, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, x_ptr, height, stride_zn, stride_xm, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    pid = tl.program_id(0)
    pid_n = tl.program_id(1)
    offs_m_1 = tl.arange(0, BLOCK_M)
    offs_n_2 = (3 - 3) * BLOCK_N + tl.arange(0, BLOCK_N)
    tl.store(
        y_ptr + (((offs_n_2)[None, :] * stride_zn + ((tl.arange(0, BLOCK_M) - 4) // height)[:, None]) ^ 2),
        1.0,
    )
    tl.store(
        x_ptr
        + ((offs_n_2 ^ 1)[None, :] + ((1 // 4) * BLOCK_M + tl.arange(0, BLOCK_M))[:, None] * stride_xm).T,
        1.0,
    )
