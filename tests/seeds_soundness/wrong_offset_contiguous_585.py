# ruff: noqa
"""Once: wrong offset, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, N, stride_zn, BLOCK_K: tl.constexpr):
    offs_k_4 = tl.arange(0, BLOCK_K)
    v_5 = tl.load(y_ptr + ((4 + tl.arange(0, 4) < N)[:, None, None] * stride_zn + offs_k_4 % 4))
