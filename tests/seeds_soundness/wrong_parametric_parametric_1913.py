# ruff: noqa
"""Once: wrong parametric, claimed parametric."""

import triton
import triton.language as tl


@triton.jit
def fetch(p, i, s):
    return tl.load(p + i * s)


@triton.jit
def kernel(y_ptr, stride_yk, BLOCK_K: tl.constexpr):
    v_1 = fetch(y_ptr, tl.maximum(tl.arange(0, BLOCK_K), 3), stride_yk)
