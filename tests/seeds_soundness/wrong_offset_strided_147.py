# ruff: noqa
"""Once: wrong offset, claimed strided."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, height, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    v_1 = tl.load(
        y_ptr + (tl.arange(0, BLOCK_N) * 8 + tl.minimum(tl.arange(0, BLOCK_M), height)[:, None] * 64)
    )
