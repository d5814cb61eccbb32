# ruff: noqa
"""Once: wrong notes, claimed parametric (generator seed 5089685)."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, width, N, stride_zm, BLOCK_N: tl.constexpr, PACK: tl.constexpr, HEADS: tl.constexpr):
    offs_n_3 = width * BLOCK_N + tl.arange(0, BLOCK_N)
    v_5 = tl.load(y_ptr + tl.reshape(tl.arange(0, 16)[:, None] + offs_n_3 % N * stride_zm, [16 * BLOCK_N]))
