# ruff: noqa
"""Once: wrong offset, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n_cols, BLOCK_M: tl.constexpr, PACK: tl.constexpr):
    offs_3 = tl.arange(0, BLOCK_M)
    tl.atomic_add(x_ptr + tl.where(offs_3 // PACK ^ 4 < n_cols, offs_3 // PACK, offs_3), 1.0)
