# ruff: noqa
"""Once: wrong notes, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, width, BLOCK_K: tl.constexpr, WIDTH: tl.constexpr):
    offs_1 = tl.arange(0, BLOCK_K) // WIDTH
    pick_2 = offs_1 if width > 16 else offs_1 // 3
    tl.store(y_ptr + pick_2, 1.0)
