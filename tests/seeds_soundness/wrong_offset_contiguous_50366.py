# ruff: noqa
"""Once: wrong offset, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, z_ptr, M):
    base_3 = x_ptr
    if M > 16:
        base_3 = z_ptr + 8
    tl.atomic_add(base_3 + tl.arange(0, 4) // 3 * 3 // 3, 1.0)
