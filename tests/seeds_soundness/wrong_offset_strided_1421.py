# ruff: noqa
"""Once: wrong offset, claimed strided."""

import triton
import triton.language as tl


@triton.jit
def fetch(p, i, s):
    return tl.load(p + i)


@triton.jit
def kernel(y_ptr, height, n_cols, BLOCK_K: tl.constexpr):
    v_2 = fetch(
        y_ptr,
        tl.where(
            BLOCK_K + tl.arange(0, BLOCK_K) < n_cols,
            tl.arange(0, BLOCK_K) * 5,
            (height + tl.arange(0, BLOCK_K)) * 5,
        ),
        0,
    )
