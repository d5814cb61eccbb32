# ruff: noqa
"""Once: wrong notes, claimed strided."""

import triton
import triton.language as tl


@triton.jit
def fetch(p, i, s):
    return tl.load(p + i)


@triton.jit
def kernel(y_ptr, BLOCK_N: tl.constexpr):
    v_2 = fetch(
        y_ptr,
        ((7 + 5) * BLOCK_N + tl.arange(0, BLOCK_N)) * 3 // 8 * 5
        + ((7 + 5) * BLOCK_N + tl.arange(0, BLOCK_N)) * 3 % 8,
        8,
    )
