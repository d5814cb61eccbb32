# ruff: noqa
"""Once: wrong contiguous, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, BLOCK_M: tl.constexpr):
    v_4 = tl.load(z_ptr + (tl.maximum(tl.arange(0, BLOCK_M), 6) + 7))
