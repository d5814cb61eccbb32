# ruff: noqa
"""Once: wrong offset, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, BLOCK_N: tl.constexpr, BLOCK_M: tl.constexpr):
    offs_n_4 = tl.arange(0, BLOCK_N)
    v_6 = tl.load(z_ptr + (offs_n_4 + 1 + tl.maximum(tl.arange(0, BLOCK_M), 2)[:, None]))
