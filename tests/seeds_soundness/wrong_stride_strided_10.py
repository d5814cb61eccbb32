# ruff: noqa
"""Once: wrong stride, claimed strided."""

import triton
import triton.language as tl


@triton.jit
def fetch(p, i, s):
    at = p + i
    return tl.load(at)


@triton.jit
def kernel(x_ptr, width, BLOCK_N: tl.constexpr):
    v_3 = fetch(x_ptr, (tl.arange(0, BLOCK_N) % 4 + tl.arange(0, BLOCK_N)) % width, 3)
