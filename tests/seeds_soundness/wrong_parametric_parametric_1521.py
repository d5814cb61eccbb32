# ruff: noqa
"""Once: wrong parametric, claimed parametric."""

import triton
import triton.language as tl


@triton.jit
def kernel(index_ptr, y_ptr, stride_yn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    offs_m_4 = tl.arange(0, BLOCK_M)
    tl.atomic_add(
        y_ptr + tl.minimum(tl.arange(0, BLOCK_N) * stride_yn + tl.load(index_ptr + offs_m_4)[:, None], 0), 1.0
    )
