# ruff: noqa
"""Once: wrong notes, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, height):
    tl.store(x_ptr + ((tl.arange(0, 8) // 5 + tl.arange(0, 8)) // height + tl.arange(0, 8) + 7), 1.0)
