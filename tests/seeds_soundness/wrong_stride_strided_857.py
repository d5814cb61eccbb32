# ruff: noqa
"""Once: wrong stride, claimed strided."""

import triton
import triton.language as tl


@triton.jit
def fetch(p, i, s):
    return tl.load(p + i * s)


@triton.jit
def kernel(y_ptr, width):
    v_4 = fetch(y_ptr, tl.minimum(tl.arange(0, 16), width), 16)
