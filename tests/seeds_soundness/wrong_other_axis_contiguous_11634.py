# ruff: noqa
"""Once: wrong other axis, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, K, stride_ym, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    at_2 = 0 - tl.arange(0, BLOCK_N) // K + (tl.arange(0, BLOCK_M) % 3 ^ 2)[:, None] * stride_ym
    tl.store(y_ptr + at_2, 1.0)
