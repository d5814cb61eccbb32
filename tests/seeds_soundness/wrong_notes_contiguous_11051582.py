# ruff: noqa
"""Once: wrong notes, claimed contiguous (generator seed 11051582)."""

import triton
import triton.language as tl

@triton.jit
def kernel(index_ptr, n_cols, BLOCK_M: tl.constexpr):
    offs_3 = tl.arange(0, BLOCK_M)
    v_4 = tl.load(index_ptr + (9 - offs_3.to(tl.uint32) % n_cols))
