# ruff: noqa
"""Once: wrong offset, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    pid_n = tl.program_id(1)
    offs_2 = pid_n + tl.arange(0, 4)
    v_3 = tl.load(x_ptr + -(tl.maximum(offs_2 >> 1, 4) % 5))
