# ruff: noqa
"""Once: wrong notes, claimed contiguous (generator seed 1004192)."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, BLOCK_K: tl.constexpr):
    v_7 = tl.load(z_ptr + tl.arange(0, BLOCK_K) * 3 // 5)
