# ruff: noqa
"""Once: wrong axis, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    offs_5 = tl.arange(0, 4)
    v_6 = tl.load(x_ptr + ((offs_5 % GROUP + pid) // GROUP + (offs_5 + pid) % GROUP))
