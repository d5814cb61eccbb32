# ruff: noqa
"""Once: wrong other axis, claimed strided (generator seed 2105293)."""

import triton
import triton.language as tl


@triton.jit
def kernel(
    y_ptr,
    M,
    width,
    n_cols,
    stride_ym,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    HEADS: tl.constexpr,
    PACK: tl.constexpr,
):
    pid = tl.program_id(0)
    pid_n = tl.program_id(1)
    pid_k = tl.program_id(2)
    offs_m_1 = pid * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n_2 = tl.arange(0, BLOCK_N)
    v_3 = tl.load(
        y_ptr + ((offs_m_1)[:, None] * stride_ym + (offs_n_2)[None, :]),
        mask=(((offs_m_1)[:, None] < M) & ((offs_n_2)[None, :] < width)),
        other=0.0,
    )
    tl.store(
        y_ptr
        + (
            (
                ((((3 - pid_n) * BLOCK_M + tl.arange(0, BLOCK_M)) - 8 * 4) // 2) * width
                + ((((3 - pid_n) * BLOCK_M + tl.arange(0, BLOCK_M)) - 8 * 4) % 2)
            )[:, None]
            * 4
            + (((5 + n_cols) * BLOCK_N + tl.arange(0, BLOCK_N)) % HEADS)[None, :] * PACK
        ),
        1.0,
    )
