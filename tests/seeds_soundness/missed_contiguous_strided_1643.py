# ruff: noqa
"""Once: missed contiguous, claimed strided."""

import triton
import triton.language as tl


@triton.jit
def kernel(
    x_ptr,
    y_ptr,
    M,
    n_cols,
    width,
    stride_zn,
    BLOCK_N: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_K: tl.constexpr,
    PACK: tl.constexpr,
    WIDTH: tl.constexpr,
    HEADS: tl.constexpr,
):
    pid = tl.program_id(0)
    pid_n = tl.program_id(1)
    pid_k = tl.program_id(2)
    s_1 = tl.minimum(tl.cdiv(M, BLOCK_N), 6)
    v_2 = tl.load(
        x_ptr
        + tl.cat(
            (tl.arange(0, BLOCK_M) // PACK),
            (1 * n_cols * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int32),
            can_reorder=True,
        )
    )
    offs_3 = (pid_k % WIDTH) * BLOCK_K + tl.arange(0, BLOCK_K)
    v_4 = tl.load(y_ptr + (3 * stride_zn - tl.where(offs_3 < width, offs_3, offs_3 * HEADS)))
    offs_5 = (s_1 if 3 > 2 else 8) * BLOCK_M + tl.arange(0, BLOCK_M)
    v_6 = tl.load(x_ptr + ((offs_5 // 7) // PACK))
