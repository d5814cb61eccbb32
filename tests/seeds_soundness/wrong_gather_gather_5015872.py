# ruff: noqa
"""Once: wrong gather, claimed gather (generator seed 5015872)."""

import triton
import triton.language as tl


@triton.jit
def kernel(index_ptr, x_ptr):
    begin_1 = tl.load(index_ptr)
    x_ptr += begin_1
    offs_2 = tl.arange(0, 16)
    tl.store(x_ptr + offs_2.to(tl.uint32), 1.0)
