# ruff: noqa
"""Once: wrong other axis, claimed contiguous (number 10329)."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, M, GROUP: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    i = tl.arange(0, BLOCK_M)[:, None]
    if GROUP == 4:
        q = i
    else:
        q = i // 2 + i % 2 * M
    v = tl.load(x_ptr + (i - q) // 3 + tl.arange(0, BLOCK_N)[None, :])
