# ruff: noqa
"""Once: wrong axis, claimed parametric."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, stride_yn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    offs_n_5 = tl.arange(0, BLOCK_N)
    tl.store(x_ptr + (tl.arange(0, BLOCK_M) * stride_yn + offs_n_5[None, :, None] * stride_yn) % 4, 1.0)
