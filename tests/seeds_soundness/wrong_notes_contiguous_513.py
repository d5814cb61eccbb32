# ruff: noqa
"""Once: wrong notes, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def fetch(p, i, s):
    at = p + i
    return tl.load(at)


@triton.jit
def kernel(x_ptr, z_ptr, BLOCK_N: tl.constexpr):
    offs_1 = tl.arange(0, BLOCK_N)
    v_3 = fetch(z_ptr, offs_1 // 2 + 6, 0)
    v_4 = fetch(x_ptr, offs_1, 0)
