# ruff: noqa
"""Once: wrong axis, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, K, n_cols, height, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, HEADS: tl.constexpr):
    pid = tl.program_id(0)
    offs_2 = BLOCK_M + tl.arange(0, BLOCK_M)
    tl.store(z_ptr + (5 - (pid - (offs_2 // HEADS + offs_2 % HEADS))) % 4, 1.0)
