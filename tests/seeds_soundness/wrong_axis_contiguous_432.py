# ruff: noqa
"""Once: wrong axis, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, K, stride_yk, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    tl.store(y_ptr + (tl.arange(0, BLOCK_N)[None, :, None] + tl.arange(0, BLOCK_K) * stride_yk) % K, 1.0)
