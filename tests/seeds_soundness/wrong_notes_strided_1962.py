# ruff: noqa
"""Once: wrong notes, claimed strided."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, height, BLOCK_N: tl.constexpr, GROUP: tl.constexpr):
    offs_m_1 = tl.arange(0, 4)
    offs_n_2 = height + tl.arange(0, BLOCK_N)
    tl.store(y_ptr + tl.reshape((3 - offs_n_2) % height * GROUP + offs_m_1[:, None], [4 * BLOCK_N]), 1.0)
