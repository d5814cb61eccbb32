# ruff: noqa
"""Once: wrong stride, claimed strided."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, n_cols, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    offs_m_3 = tl.arange(0, BLOCK_M)
    offs_n_4 = BLOCK_N + tl.arange(0, BLOCK_N)
    tl.atomic_add(
        z_ptr + tl.reshape(offs_n_4 + offs_n_4 % n_cols + offs_m_3[:, None], [BLOCK_M * BLOCK_N]), 1.0
    )
