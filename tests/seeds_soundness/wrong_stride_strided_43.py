# ruff: noqa
"""Once: wrong stride, claimed strided."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    offs_m_6 = tl.arange(0, BLOCK_M)
    offs_n_7 = tl.arange(0, BLOCK_N)
    offs_k_8 = tl.arange(0, BLOCK_K)
    tl.store(
        z_ptr
        + tl.reshape(
            offs_k_8 + offs_k_8 % 8 + offs_n_7[None, :, None] + offs_m_6[:, None, None],
            [BLOCK_M * BLOCK_N * BLOCK_K],
        ),
        1.0,
    )
