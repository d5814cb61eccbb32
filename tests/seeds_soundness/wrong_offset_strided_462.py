# ruff: noqa
"""Once: wrong offset, claimed strided."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    tl.store(
        x_ptr
        + tl.reshape(
            tl.where(BLOCK_M < K, tl.arange(0, BLOCK_M), 0)[:, None] + tl.arange(0, BLOCK_N) * 33,
            [BLOCK_M * BLOCK_N],
        ),
        1.0,
    )
