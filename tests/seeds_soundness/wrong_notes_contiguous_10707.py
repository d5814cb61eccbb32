# ruff: noqa
"""Once: wrong notes, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, BLOCK_M: tl.constexpr):
    offs_m_3 = tl.arange(0, BLOCK_M)
    v_5 = tl.load(y_ptr + tl.reshape(offs_m_3[:, None] + tl.arange(0, 16) + 1 ^ 4, [BLOCK_M * 16]))
