# ruff: noqa
"""Once: wrong axis, claimed gather."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, index_ptr, n_cols, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    offs_m_1 = tl.arange(0, BLOCK_M)
    tl.store(
        z_ptr
        + (tl.load(index_ptr + tl.arange(0, BLOCK_N)) + tl.where(offs_m_1 < n_cols, offs_m_1, 0)[:, None]),
        1.0,
    )
