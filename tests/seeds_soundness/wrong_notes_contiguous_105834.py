# ruff: noqa
"""Once: wrong notes, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, BLOCK_M: tl.constexpr):
    offs_4 = tl.arange(0, BLOCK_M)
    v_5 = tl.load(z_ptr + offs_4 // 4 * 3 // 32)
