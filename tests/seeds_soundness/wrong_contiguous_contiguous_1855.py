# ruff: noqa
"""Once: wrong contiguous, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def fetch(p, i, s):
    at = p + i
    return tl.load(at)


@triton.jit
def kernel(y_ptr, height, BLOCK_K: tl.constexpr):
    v_3 = fetch(y_ptr, tl.minimum(tl.arange(0, BLOCK_K) + 6, height), 0)
