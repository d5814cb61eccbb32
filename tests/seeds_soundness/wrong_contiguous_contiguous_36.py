# ruff: noqa
"""Once: wrong contiguous, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def fetch(p, i, s):
    at = p + i
    return tl.load(at)


@triton.jit
def kernel(z_ptr, y_ptr, BLOCK_M: tl.constexpr):
    v_1 = fetch(z_ptr, tl.arange(0, 16), 0)
    v_3 = fetch(y_ptr, -((2 - tl.arange(0, BLOCK_M)) % 5), 0)
