# ruff: noqa
"""Once: wrong axis, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def wrapped(i, n):
    return i % n


@triton.jit
def kernel(y_ptr, height, N, stride_yn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    offs_m_8 = tl.arange(0, BLOCK_M)
    offs_n_9 = tl.arange(0, BLOCK_N)
    v_10 = tl.load(
        y_ptr + wrapped(offs_n_9 * stride_yn + (offs_m_8 // height // 7 + offs_m_8 // height)[:, None], N)
    )
