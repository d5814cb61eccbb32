# ruff: noqa
"""Once: wrong contiguous, claimed contiguous (number 64001)."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, BLOCK_M: tl.constexpr):
    i = (tl.arange(0, BLOCK_M) - 64).to(tl.uint32)
    v = tl.load(x_ptr + tl.minimum(i, 10))
    u = tl.load(x_ptr + i // 4)
    w = tl.load(x_ptr + tl.arange(0, BLOCK_M).to(tl.int8) * 8)
