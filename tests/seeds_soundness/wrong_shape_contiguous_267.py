# ruff: noqa
"""Once: wrong shape, claimed contiguous (number 267)."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, BLOCK_N: tl.constexpr, BLOCK_M: tl.constexpr, FLAG: tl.constexpr):
    if FLAG:
        ptrs = y_ptr + tl.arange(0, BLOCK_M)[:, None] * 64 + tl.arange(0, BLOCK_N)[None, :]
    else:
        ptrs = y_ptr + tl.arange(0, BLOCK_N)[None, :]
    v = tl.load(ptrs)
