# ruff: noqa
"""Once: wrong contiguous, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, width, stride_zm, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    offs_n_3 = tl.arange(0, BLOCK_N)
    v_4 = tl.load(
        z_ptr + (tl.where(offs_n_3 < width, offs_n_3, offs_n_3 * stride_zm) + tl.arange(0, BLOCK_M)[:, None])
    )
