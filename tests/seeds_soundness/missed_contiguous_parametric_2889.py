# ruff: noqa
"""Once: missed contiguous, claimed parametric."""

import triton
import triton.language as tl


@triton.jit
def clipped(i, n):
    last = n - 1
    return tl.minimum(i, last)


@triton.jit
def kernel(
    y_ptr,
    z_ptr,
    x_ptr,
    n_cols,
    height,
    M,
    stride_ym,
    stride_zm,
    stride_yn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    HEADS: tl.constexpr,
):
    pid = tl.program_id(0)
    s_1 = pid
    s_2 = s_1 + (3 % n_cols)
    offs_m_3 = tl.arange(0, BLOCK_M)
    offs_n_4 = s_2 * BLOCK_N + tl.arange(0, BLOCK_N)
    v_5 = tl.load(y_ptr + ((offs_n_4 * HEADS)[None, :] + (offs_m_3 // 7)[:, None] * stride_ym))
    v_6 = tl.load(
        y_ptr
        + (
            (((height * BLOCK_N + tl.arange(0, BLOCK_N)) - 6) // 7)[None, :] * stride_yn
            + ((pid * BLOCK_M + tl.arange(0, BLOCK_M)) | 7)[:, None] * stride_zm
        )
    )
    offs_7 = tl.arange(0, BLOCK_K)
    v_8 = tl.load(
        z_ptr
        + tl.where(tl.arange(0, BLOCK_K) < height, tl.arange(0, BLOCK_K), tl.arange(0, BLOCK_K) * stride_ym),
        mask=offs_7 < M,
    )
    tl.store(x_ptr + (4 * 64 - clipped(offs_7, 16)), 1.0)
