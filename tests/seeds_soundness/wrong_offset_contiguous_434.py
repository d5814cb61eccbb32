# ruff: noqa
"""Once: wrong offset, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, BLOCK_N: tl.constexpr):
    offs_m_3 = tl.arange(0, 4)
    offs_n_4 = tl.arange(0, BLOCK_N)
    v_5 = tl.load(y_ptr + tl.reshape(tl.maximum(offs_m_3, 2)[:, None] + offs_n_4, [4 * BLOCK_N]))
