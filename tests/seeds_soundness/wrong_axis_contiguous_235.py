# ruff: noqa
"""Once: wrong axis, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, K, stride_ym, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    offs_n_3 = tl.arange(0, BLOCK_N)
    tl.store(z_ptr + (7 - (tl.arange(0, BLOCK_K) * stride_ym + offs_n_3[None, :, None])) % K, 1.0)
