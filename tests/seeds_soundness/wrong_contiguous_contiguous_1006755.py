# ruff: noqa
"""Once: wrong contiguous, claimed contiguous (generator seed 1006755)."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, K, BLOCK_M: tl.constexpr):
    offs_4 = (tl.arange(0, BLOCK_M) - 7) // 4
    pick_5 = 0
    if K > 16:
        pick_5 = (7 - offs_4) % 8
    v_6 = tl.load(z_ptr + pick_5)
