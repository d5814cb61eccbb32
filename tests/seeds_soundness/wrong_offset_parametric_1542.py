# ruff: noqa
"""Once: wrong offset, claimed parametric."""

import triton
import triton.language as tl


@triton.jit
def clipped(i, n):
    last = n
    return tl.minimum(i, last)


@triton.jit
def kernel(z_ptr, M, K, stride_xn, stride_ym, BLOCK_N: tl.constexpr):
    v_8 = tl.load(
        z_ptr + (tl.arange(0, BLOCK_N) % K * stride_xn + clipped(tl.arange(0, 16), M)[:, None] * stride_ym)
    )
