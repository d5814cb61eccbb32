# ruff: noqa
"""Once: unsaid clamp, claimed strided (generator seed 1003717)."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr):
    at_5 = (1 - tl.arange(0, 4) * 8) % 4
    v_7 = tl.load(z_ptr + at_5)
