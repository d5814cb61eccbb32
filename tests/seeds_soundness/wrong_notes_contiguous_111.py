# ruff: noqa
"""Once: wrong notes, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, BLOCK_N: tl.constexpr, PACK: tl.constexpr):
    offs_n_2 = tl.arange(0, BLOCK_N)
    tl.atomic_add(z_ptr + tl.maximum(offs_n_2 % PACK, 6), 1.0)
