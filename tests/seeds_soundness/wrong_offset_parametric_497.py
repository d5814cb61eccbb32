# ruff: noqa
"""Once: wrong offset, claimed parametric."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, M, stride_zm, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr):
    offs_k_3 = tl.arange(0, BLOCK_K)
    v_4 = tl.load(x_ptr + (tl.arange(0, BLOCK_M)[:, None, None] * stride_zm + tl.minimum(offs_k_3, M) * 16))
