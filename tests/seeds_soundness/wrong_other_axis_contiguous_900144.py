# ruff: noqa
"""Once: wrong other axis, claimed contiguous (number 900144)."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    tl.store(x_ptr + (tl.arange(0, BLOCK_M)[:, None] + (6 - tl.arange(0, BLOCK_N)) % 5 * 8) % 4, 1.0)
