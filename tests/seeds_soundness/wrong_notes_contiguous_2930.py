# ruff: noqa
"""Once: wrong notes, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def fetch(p, i, s):
    at = p + i
    return tl.load(at)


@triton.jit
def kernel(y_ptr, x_ptr, height, BLOCK_M: tl.constexpr):
    v_2 = fetch(y_ptr, tl.arange(0, BLOCK_M) % height, 0)
    v_4 = fetch(x_ptr, tl.arange(0, BLOCK_M) >> 1, 0)
