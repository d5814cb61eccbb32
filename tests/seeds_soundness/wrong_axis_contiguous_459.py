# ruff: noqa
"""Once: wrong axis, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, M, stride_zn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    v_3 = tl.load(y_ptr + (tl.arange(0, BLOCK_N) * stride_zn + (tl.arange(0, BLOCK_M) // M)[:, None]) % 4)
