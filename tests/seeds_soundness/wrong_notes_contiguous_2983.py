# ruff: noqa
"""Once: wrong notes, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def fetch(p, i, s):
    at = p + i
    return tl.load(at)


@triton.jit
def kernel(z_ptr, BLOCK_N: tl.constexpr, WIDTH: tl.constexpr):
    v_2 = fetch(z_ptr, tl.arange(0, BLOCK_N) % 32 // WIDTH + tl.arange(0, BLOCK_N), 0)
