# ruff: noqa
"""Once: wrong contiguous, claimed contiguous (generator seed 9735996)."""

import triton
import triton.language as tl


@triton.jit
def kernel(index_ptr, y_ptr, BLOCK_K: tl.constexpr):
    offs_m_3 = tl.arange(0, 4)
    offs_k_5 = tl.arange(0, BLOCK_K)
    tl.store(
        y_ptr
        + tl.where(
            (tl.load(index_ptr + offs_m_3)[:, None, None] + offs_k_5) % 2 < 1,
            tl.load(index_ptr + offs_m_3)[:, None, None] + offs_k_5,
            0,
        ),
        1.0,
    )
