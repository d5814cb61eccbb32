# ruff: noqa
"""Once: wrong notes, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, BLOCK_N: tl.constexpr, PACK: tl.constexpr):
    offs_8 = tl.arange(0, BLOCK_N)
    tl.store(y_ptr + (4 - tl.maximum(offs_8, 2)) % PACK, 1.0)
