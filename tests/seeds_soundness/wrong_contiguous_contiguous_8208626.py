# ruff: noqa
"""Once: a step found at the first 64 lanes, claimed for all of them (generator seed 8208626)."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    offs_2 = tl.arange(0, BLOCK)
    more = tl.arange(0, 256)
    tl.store(x_ptr + (offs_2 // 32 + offs_2) % 4, 1.0)
    tl.store(x_ptr + more * (more // 64 + 1), 1.0)
    tl.store(x_ptr + more * (more // 128 + 1) % 8, 1.0)
    tl.store(x_ptr + tl.join(tl.maximum(offs_2, 4), offs_2), 1.0)
