# ruff: noqa
"""Once: wrong offset, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, x_ptr, N, BLOCK_N: tl.constexpr):
    base_3 = x_ptr
    if N > 16:
        base_3 = z_ptr + 9
    tl.store(base_3 + (tl.arange(0, BLOCK_N) ^ 1), 1.0)
