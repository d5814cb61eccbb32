# ruff: noqa
"""Once: wrong notes, claimed strided (generator seed 1001626)."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, BLOCK_M: tl.constexpr):
    even_1, odd_2 = tl.split(tl.reshape((3 - tl.arange(0, BLOCK_M * 2)) % 2, [BLOCK_M, 2]))
    tl.store(x_ptr + even_1, 1.0)
