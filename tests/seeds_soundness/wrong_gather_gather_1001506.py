# ruff: noqa
"""Once: wrong gather, claimed gather (generator seed 1001506)."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, index_ptr, BLOCK_K: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_M: tl.constexpr):
    offs_m_2 = tl.arange(0, BLOCK_M)
    tl.store(
        z_ptr
        + tl.reshape(
            tl.arange(0, 16)[None, :, None]
            + offs_m_2[:, None, None]
            + tl.load(index_ptr + tl.arange(0, BLOCK_K) // 16),
            [BLOCK_M * 16 * BLOCK_K],
        ),
        1.0,
    )
