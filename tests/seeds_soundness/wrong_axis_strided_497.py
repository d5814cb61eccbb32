# ruff: noqa
"""Once: wrong axis, claimed strided."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, stride_yk, stride_xk, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr):
    tl.store(
        z_ptr
        + (tl.arange(0, BLOCK_N)[None, :, None] * 33 + tl.arange(0, BLOCK_K) * stride_yk) % GROUP * stride_xk,
        1.0,
    )
