# ruff: noqa
"""Once: wrong gather, claimed gather (generator seed 9502862)."""

import triton
import triton.language as tl


@triton.jit
def kernel(address_ptr, BLOCK_K: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    flat_4 = tl.arange(0, BLOCK_K)
    base_3 = tl.load(address_ptr + flat_4 // 32).to(tl.pointer_type(tl.float32))
    v_5 = tl.load(base_3 + flat_4)
