# ruff: noqa
"""Once: wrong offset, claimed strided."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, M, BLOCK_N: tl.constexpr, FLAG: tl.constexpr):
    base_1 = x_ptr
    if FLAG:
        base_1 = y_ptr + M
    tl.store(base_1 + tl.arange(0, BLOCK_N) * 8, 1.0)
