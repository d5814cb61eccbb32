# ruff: noqa
"""Once: wrong other axis, claimed contiguous (generator seed 5035369)."""

import triton
import triton.language as tl


@triton.jit
def kernel(
    x_ptr,
    width,
    M,
    stride_xm,
    stride_zm,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    HEADS: tl.constexpr,
    PACK: tl.constexpr,
):
    pid = tl.program_id(0)
    pid_n = tl.program_id(1)
    pid_k = tl.program_id(2)
    s_1 = (pid_n + pid_k) % width
    s_2 = pid_n // 7
    ptrs_3 = x_ptr + (
        (
            (
                (((2 - 3) * BLOCK_M + tl.arange(0, BLOCK_M)) % HEADS) * M
                + (((2 - 3) * BLOCK_M + tl.arange(0, BLOCK_M)) // HEADS)
            )
            + (3 // 4)
        )[:, None]
        * stride_xm
        + (tl.arange(0, BLOCK_N))[None, :]
    )
    k_4 = 0
    while k_4 < 3:
        v_5 = tl.load(ptrs_3 + k_4 * PACK)
        ptrs_3 += s_2 * stride_zm
        k_4 += 1
    tl.store(ptrs_3, 1.0)
