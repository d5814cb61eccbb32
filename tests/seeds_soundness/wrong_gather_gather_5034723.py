# ruff: noqa
"""Once: wrong gather, claimed gather (generator seed 5034723)."""

import triton
import triton.language as tl


@triton.jit
def fetch(p, i, s):
    return tl.load(p + i)


@triton.jit
def kernel(
    index_ptr,
    y_ptr,
    width,
    n_cols,
    height,
    stride_zm,
    stride_yn,
    BLOCK_K: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    v_1 = fetch(y_ptr, tl.load(index_ptr + tl.arange(0, BLOCK_K) // 16), 2)
    v_2 = fetch(y_ptr, tl.arange(0, BLOCK_K), 33)
