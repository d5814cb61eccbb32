# ruff: noqa
"""Once: wrong axis, claimed parametric."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, stride_ym, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    v_2 = tl.load(
        z_ptr + tl.reshape((5 - tl.arange(0, BLOCK_M * BLOCK_N)) % 8 * stride_ym, [BLOCK_M, BLOCK_N])
    )
