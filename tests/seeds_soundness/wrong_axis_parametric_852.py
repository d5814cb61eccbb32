# ruff: noqa
"""Once: wrong axis, claimed parametric."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, K, stride_xm, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    v_5 = tl.load(
        y_ptr
        + (
            tl.arange(0, BLOCK_M)[:, None] * stride_xm
            + tl.where(tl.arange(0, BLOCK_N) < K, tl.arange(0, BLOCK_N), 0)
        )
    )
