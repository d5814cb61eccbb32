# ruff: noqa
"""Once: wrong gather, claimed gather (generator seed 5050212)."""

import triton
import triton.language as tl


@triton.jit
def kernel(index_ptr, z_ptr, K, BLOCK_N: tl.constexpr):
    K = tl.load(index_ptr)
    offs_5 = K * BLOCK_N + tl.arange(0, BLOCK_N)
    v_6 = tl.load(z_ptr + (offs_5 | 5))
