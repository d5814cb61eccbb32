# ruff: noqa
"""Once: never seen, claimed strided (generator seed 9729283)."""

import triton
import triton.language as tl


@triton.jit
def scaled(i, s):
    j = i * s
    return j


@triton.jit
def kernel(y_ptr, K, PACK: tl.constexpr):
    offs_3 = tl.arange(0, 8)
    tl.store(y_ptr + scaled(tl.where(offs_3 < 1, offs_3, offs_3 * K), PACK), 1.0)
