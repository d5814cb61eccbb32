# ruff: noqa
"""Once: wrong offset, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, x_ptr, M, BLOCK_N: tl.constexpr, PACK: tl.constexpr, HEADS: tl.constexpr):
    base_3 = z_ptr
    if M > 16:
        base_3 = x_ptr + PACK
    v_4 = tl.load(base_3 + (tl.arange(0, BLOCK_N) // HEADS + tl.arange(0, BLOCK_N)))
