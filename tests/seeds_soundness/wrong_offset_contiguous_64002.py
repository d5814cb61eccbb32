# ruff: noqa
"""Once: wrong offset, claimed contiguous (number 64002)."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, GROUP: tl.constexpr, BLOCK_M: tl.constexpr):
    n = GROUP
    w: tl.constexpr = GROUP - 300
    s = 4
    s -= 9
    a, b = 3, -5
    v = tl.load(x_ptr + tl.arange(0, BLOCK_M) + (n - 200) // 7 * 11 + w // 7 * 13 + s % 8 * 19 + b // a * 23)
