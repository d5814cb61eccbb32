# ruff: noqa
"""Once: wrong axis, claimed strided."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, HEADS: tl.constexpr):
    offs_n_5 = tl.arange(0, BLOCK_N)
    ptrs_7 = z_ptr + (offs_n_5 * 33 + (tl.arange(0, BLOCK_M) * HEADS % 3)[:, None])
    v_9 = tl.load(ptrs_7)
