# ruff: noqa
"""Once: missed contiguous, claimed strided."""

import triton
import triton.language as tl


@triton.jit
def fetch(p, i, s):
    at = p + i
    return tl.load(at)


@triton.jit
def kernel(z_ptr, M, n_cols, stride_yk, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    v_1 = fetch(
        z_ptr, tl.where(tl.arange(0, BLOCK_M) < M, tl.arange(0, BLOCK_M), tl.arange(0, BLOCK_M) * 4), 3
    )
