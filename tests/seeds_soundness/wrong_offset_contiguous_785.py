# ruff: noqa
"""Once: wrong offset, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def fetch(p, i, s):
    at = p + i
    return tl.load(at)


@triton.jit
def kernel(y_ptr, width, M, BLOCK_K: tl.constexpr):
    pid = tl.program_id(0)
    v_1 = fetch(y_ptr, tl.minimum((pid * BLOCK_K + tl.arange(0, BLOCK_K)) // width, M), 33)
