# ruff: noqa
"""Once: wrong offset, claimed contiguous (generator seed 5012797)."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, x_ptr, M):
    base_4 = y_ptr if M > 16 else x_ptr + 2
    v_5 = tl.load(base_4 + (3 - tl.where(4 + tl.arange(0, 4) < M, 4 + tl.arange(0, 4), 0)) % 5)
