# ruff: noqa
"""Once: wrong offset, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, BLOCK_M: tl.constexpr, GROUP: tl.constexpr, HEADS: tl.constexpr):
    offs_1 = tl.arange(0, BLOCK_M)
    tl.store(z_ptr + ((offs_1 // 16 * 16 + tl.maximum(offs_1, 4) % 16) % GROUP // HEADS + (6 - offs_1)), 1.0)
