# ruff: noqa
"""Once: wrong notes, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(
    z_ptr,
    n_cols,
    K,
    height,
    stride_xn,
    stride_zn,
    BLOCK_N: tl.constexpr,
    BLOCK_M: tl.constexpr,
    PACK: tl.constexpr,
):
    pid = tl.program_id(0)
    pid_n = tl.program_id(1)
    s_1 = tl.cdiv(n_cols, BLOCK_N)
    s_2 = pid_n + 4 * K
    tl.store(
        z_ptr
        + tl.reshape(
            (
                (
                    (
                        ((7 if s_1 > 2 else height) * BLOCK_N + tl.arange(0, BLOCK_N))[None, :]
                        + (tl.arange(0, BLOCK_M))[:, None] * PACK
                        + (K - 4) * 2
                    )
                    // 16
                )
                * 8
                + (
                    (
                        ((7 if s_1 > 2 else height) * BLOCK_N + tl.arange(0, BLOCK_N))[None, :]
                        + (tl.arange(0, BLOCK_M))[:, None] * PACK
                        + (K - 4) * 2
                    )
                    % 16
                )
            ),
            [BLOCK_M * BLOCK_N],
        ),
        1.0,
    )
    tl.store(
        z_ptr
        + tl.permute(
            (
                ((s_1 + s_2) * BLOCK_M + tl.arange(0, BLOCK_M))[:, None]
                + (tl.arange(0, BLOCK_N) % 4)[None, :] * stride_zn
            ),
            (1, 0),
        ),
        1.0,
    )
