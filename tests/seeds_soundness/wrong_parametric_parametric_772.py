# ruff: noqa
"""Once: wrong parametric, claimed parametric."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, width, stride_yn):
    offs_m_3 = tl.arange(0, 4)
    offs_n_4 = tl.arange(0, 8)
    v_5 = tl.load(z_ptr + tl.reshape((offs_m_3[:, None] + offs_n_4 % width * stride_yn) % 8, [4 * 8]))
