# ruff: noqa
"""Once: wrong notes, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(
    x_ptr,
    N,
    n_cols,
    K,
    M,
    stride_xk,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    WIDTH: tl.constexpr,
    FLAG: tl.constexpr,
):
    pid = tl.program_id(0)
    offs_1 = tl.where(
        (tl.cdiv(N, BLOCK_N) * BLOCK_M + tl.arange(0, BLOCK_M)) < n_cols,
        (tl.cdiv(N, BLOCK_N) * BLOCK_M + tl.arange(0, BLOCK_M)),
        ((tl.cdiv(N, BLOCK_N) * BLOCK_M + tl.arange(0, BLOCK_M)) + pid * WIDTH),
    )
    pick_2 = offs_1 + pid
    if FLAG:
        pick_2 = (offs_1 // M) + (offs_1 % M)
    v_3 = tl.load(x_ptr + pick_2)
