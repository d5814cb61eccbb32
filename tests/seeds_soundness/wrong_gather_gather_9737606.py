# ruff: noqa
"""Once: wrong gather, claimed gather (generator seed 9737606)."""

import triton
import triton.language as tl


@triton.jit
def kernel(index_ptr, z_ptr, N):
    begin_3 = index_ptr
    N = tl.load(index_ptr) - begin_3
    flat_5 = tl.arange(0, 16)
    low_6 = flat_5 % N
    high_8 = flat_5 // N // N
    v_9 = tl.load(z_ptr + (high_8 * N * N + N + low_6))
