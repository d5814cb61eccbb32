# ruff: noqa
"""Once: wrong contiguous, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, K, BLOCK_M: tl.constexpr):
    offs_3 = tl.arange(0, BLOCK_M)
    v_5 = tl.load(y_ptr + (0 - tl.minimum(offs_3, K)))
