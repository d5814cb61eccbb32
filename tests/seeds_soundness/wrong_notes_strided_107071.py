# ruff: noqa
"""Once: wrong notes, claimed strided."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, BLOCK_M: tl.constexpr):
    offs_m_3 = tl.arange(0, BLOCK_M)
    ptrs_6 = y_ptr + (3 - offs_m_3 * 4) % 4
    tl.store(ptrs_6, 1.0)
