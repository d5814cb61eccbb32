# ruff: noqa
"""Once: wrong axis, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, M, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    tl.store(
        x_ptr
        + tl.reshape(
            tl.where(tl.arange(0, BLOCK_M * BLOCK_N) < M, tl.arange(0, BLOCK_M * BLOCK_N), 0),
            [BLOCK_M, BLOCK_N],
        ),
        1.0,
    )
