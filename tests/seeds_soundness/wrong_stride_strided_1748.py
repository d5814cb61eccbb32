# ruff: noqa
"""Once: wrong stride, claimed strided."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    offs_n_6 = tl.arange(0, BLOCK_N)
    v_7 = tl.load(z_ptr + tl.reshape(tl.arange(0, BLOCK_M)[:, None] + offs_n_6 // 2 * 2, [BLOCK_M * BLOCK_N]))
