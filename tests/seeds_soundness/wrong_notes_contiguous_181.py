# ruff: noqa
"""Once: wrong notes, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def fetch(p, i, s):
    at = p + i
    return tl.load(at)


@triton.jit
def kernel(x_ptr, y_ptr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    v_1 = fetch(x_ptr, tl.arange(0, BLOCK_M) // 16, 8)
    v_2 = fetch(y_ptr, tl.arange(0, BLOCK_N), 8)
