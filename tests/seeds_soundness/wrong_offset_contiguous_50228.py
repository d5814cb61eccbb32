# ruff: noqa
"""Once: wrong offset, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, M, BLOCK_M: tl.constexpr):
    pid_n = 1
    base_3 = y_ptr if M > 16 else x_ptr + pid_n
    tl.store(base_3 + tl.arange(0, BLOCK_M) % 7, 1.0)
