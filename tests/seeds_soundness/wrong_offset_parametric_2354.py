# ruff: noqa
"""Once: wrong offset, claimed parametric."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n_cols, M, stride_zn, BLOCK_N: tl.constexpr, BLOCK_M: tl.constexpr):
    v_9 = tl.load(
        x_ptr
        + tl.where(
            tl.arange(0, BLOCK_M) // 16 * 4 < n_cols, tl.arange(0, BLOCK_M) // 16, tl.arange(0, BLOCK_M)
        )
        * stride_zn
    )
