# ruff: noqa
"""Once: wrong stride, claimed strided."""

import triton
import triton.language as tl


@triton.jit
def fetch(p, i, s):
    at = p + i
    return tl.load(at)


@triton.jit
def kernel(y_ptr, z_ptr, x_ptr, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr):
    v_2 = fetch(y_ptr, tl.arange(0, BLOCK_M), 0)
    v_3 = fetch(z_ptr, tl.arange(0, BLOCK_K) // 8 * 33, 0)
    v_4 = fetch(x_ptr, tl.arange(0, BLOCK_M) >> 1, 0)
