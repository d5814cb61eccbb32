# ruff: noqa
"""Once: wrong offset, claimed parametric."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, n_cols, N, height, BLOCK_M: tl.constexpr, FLAG: tl.constexpr):
    offs_m_1 = tl.arange(0, BLOCK_M)
    offs_4 = offs_m_1 // height
    pick_5 = offs_4 if FLAG else offs_4 % n_cols
    v_6 = tl.load(z_ptr + pick_5 * N)
