# ruff: noqa
"""Once: wrong parametric, claimed parametric."""

import triton
import triton.language as tl


@triton.jit
def clipped(i, n):
    last = n
    return tl.minimum(i, last)


@triton.jit
def fetch(p, i, s):
    return tl.load(p + i * s)


@triton.jit
def kernel(z_ptr, width, height, stride_zm, BLOCK_N: tl.constexpr):
    v_2 = fetch(z_ptr, clipped(tl.arange(0, BLOCK_N) % width, height), stride_zm)
