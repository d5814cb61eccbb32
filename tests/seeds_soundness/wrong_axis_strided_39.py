# ruff: noqa
"""Once: wrong axis, claimed strided."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, M, width, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    ptrs_2 = z_ptr + (
        tl.arange(0, BLOCK_N) * width + tl.where(tl.arange(0, BLOCK_M) < M, tl.arange(0, BLOCK_M), 0)[:, None]
    )
    for k_3 in range(0, width):
        v_4 = tl.load(ptrs_2)
