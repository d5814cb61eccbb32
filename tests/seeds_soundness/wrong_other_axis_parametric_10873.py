# ruff: noqa
"""Once: wrong other axis, claimed parametric."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, stride_yk, BLOCK_N: tl.constexpr, BLOCK_M: tl.constexpr):
    offs_m_12 = tl.arange(0, BLOCK_M)
    v_13 = tl.load(x_ptr + ((1 - offs_m_12 ^ 2)[:, None] + tl.arange(0, BLOCK_N) * stride_yk))
