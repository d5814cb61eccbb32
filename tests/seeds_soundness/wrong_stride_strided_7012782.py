# ruff: noqa
"""Once: wrong stride, claimed strided (generator seed 7012782)."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, BLOCK_K: tl.constexpr, HEADS: tl.constexpr):
    v_3 = tl.load(z_ptr + ((((tl.arange(0, BLOCK_K) & 4) + (4 % HEADS)) - 7) // 2) % 16)
