# ruff: noqa
"""Once: wrong axis, claimed strided."""

import triton
import triton.language as tl


@triton.jit
def kernel(index_ptr, x_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    offs_m_3 = tl.arange(0, BLOCK_M)
    offs_k_5 = tl.arange(0, BLOCK_K)
    v_6 = tl.load(
        x_ptr
        + (
            tl.where(offs_k_5 < N, offs_k_5, 0)
            + (tl.load(index_ptr + offs_m_3) < M)[:, None, None]
            + tl.arange(0, BLOCK_N)[None, :, None] * 64
        )
    )
