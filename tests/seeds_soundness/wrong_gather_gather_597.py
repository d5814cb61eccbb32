# ruff: noqa
"""Once: wrong gather, claimed gather."""

import triton
import triton.language as tl


@triton.jit
def kernel(index_ptr, y_ptr):
    offs_1 = tl.arange(0, 8)
    keep_2 = tl.load(index_ptr + offs_1) > 17
    place_3 = tl.cumsum(keep_2, 0)
    v_4 = tl.load(y_ptr + place_3)
