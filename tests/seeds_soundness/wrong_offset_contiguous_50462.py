# ruff: noqa
"""Once: wrong offset, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, z_ptr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr, FLAG: tl.constexpr):
    base_3 = y_ptr
    if FLAG:
        base_3 = z_ptr + GROUP
    tl.store(base_3 + tl.arange(0, BLOCK_K), 1.0)
