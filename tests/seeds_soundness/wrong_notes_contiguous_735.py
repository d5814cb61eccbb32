# ruff: noqa
"""Once: wrong notes, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, HEADS: tl.constexpr):
    offs_n_2 = tl.arange(0, 16)
    tl.store(z_ptr + tl.minimum((3 - offs_n_2) % HEADS, 0), 1.0)
