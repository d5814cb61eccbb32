# ruff: noqa
"""Once: wrong offset, claimed strided."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, K, N, GROUP: tl.constexpr, FLAG: tl.constexpr):
    s_1 = 64
    offs_4 = (s_1 * 4 + tl.arange(0, 4)) // K
    pick_5 = offs_4 * GROUP
    if FLAG:
        pick_5 = offs_4 % N * GROUP
    tl.atomic_add(y_ptr + pick_5, 1.0)
