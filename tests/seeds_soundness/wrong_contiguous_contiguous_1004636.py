# ruff: noqa
"""Once: wrong contiguous, claimed contiguous (generator seed 1004636)."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, M, BLOCK_M: tl.constexpr):
    half_2 = tl.arange(0, BLOCK_M)
    v_3 = tl.load(x_ptr + tl.interleave(half_2, tl.minimum(tl.arange(0, BLOCK_M), M)))
