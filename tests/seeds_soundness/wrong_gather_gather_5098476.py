# ruff: noqa
"""Once: wrong gather, claimed gather (generator seed 5098476)."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, z_ptr, index_ptr):
    offs_10 = tl.arange(0, 4)
    keep_11 = tl.load(index_ptr + offs_10) > 0
    place_12 = tl.cumsum(keep_11, 0)
    v_13 = tl.load(y_ptr + place_12)
