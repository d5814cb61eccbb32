# ruff: noqa
"""Once: wrong offset, claimed parametric."""

import triton
import triton.language as tl


@triton.jit
def fetch(p, i, s):
    return tl.load(p + i * s)


@triton.jit
def kernel(z_ptr, stride_zn, BLOCK_M: tl.constexpr):
    v_4 = fetch(z_ptr, tl.maximum(tl.arange(0, BLOCK_M) // 7, 1), stride_zn)
