# ruff: noqa
"""Once: wrong gather, claimed gather."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, index_ptr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    offs_6 = tl.arange(0, BLOCK_K)
    keep_7 = tl.load(index_ptr + offs_6) > 0
    place_8 = tl.cumsum(keep_7, 0)
    v_9 = tl.load(x_ptr + place_8)
