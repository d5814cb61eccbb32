# ruff: noqa
"""Once: wrong offset, claimed strided."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, N, BLOCK_K: tl.constexpr):
    offs_3 = tl.arange(0, BLOCK_K)
    v_4 = tl.load(z_ptr + (tl.minimum(offs_3, N) & 4))
