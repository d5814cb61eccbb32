# ruff: noqa
"""Once: wrong contiguous, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    ptrs_3 = x_ptr + (2 - tl.minimum(tl.arange(0, 4), 1))
    v_11 = tl.load(ptrs_3)
