# ruff: noqa
"""Once: wrong notes, claimed contiguous (generator seed 9877115)."""

import triton
import triton.language as tl

@triton.jit
def kernel(x_ptr):
    s_1 = 7
    tl.store(x_ptr + ((s_1 - tl.arange(0, 16)) % 2 >> 1), 1.0)
