# ruff: noqa
"""Once: wrong notes, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(
    z_ptr,
    x_ptr,
    n_cols,
    N,
    M,
    height,
    K,
    stride_zn,
    stride_xn,
    stride_xm,
    BLOCK_N: tl.constexpr,
    BLOCK_M: tl.constexpr,
    FLAG: tl.constexpr,
):
    pid = tl.program_id(0)
    s_1 = pid % n_cols
    s_2 = s_1 * N % 16
    offs_3 = tl.arange(0, BLOCK_N)
    v_4 = tl.load(z_ptr + ((offs_3 + 9 * stride_zn) * stride_xn + s_2 * stride_xm))
    tl.atomic_add(z_ptr + (offs_3 * 3 & 3), 1.0)
    offs_5 = tl.arange(0, BLOCK_M) // 2
    pick_6 = (offs_5 + (3 + s_1)) if M > 16 else ((offs_5 // K) * 4 + (offs_5 % K))
    v_7 = tl.load(x_ptr + pick_6)
