# ruff: noqa
"""Once: wrong notes, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def fetch(p, i, s):
    at = p + i
    return tl.load(at)


@triton.jit
def kernel(x_ptr, BLOCK_M: tl.constexpr):
    v_4 = fetch(x_ptr, (tl.arange(0, BLOCK_M) // 7 + tl.arange(0, BLOCK_M)) % 7, 0)
