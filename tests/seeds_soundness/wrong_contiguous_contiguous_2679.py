# ruff: noqa
"""Once: wrong contiguous, claimed contiguous."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, N, WIDTH: tl.constexpr, HEADS: tl.constexpr):
    first_3 = WIDTH
    pid_m_5 = first_3
    ptrs_9 = y_ptr + (((pid_m_5 * 4 + tl.arange(0, 4)) // N + tl.arange(0, 4)) // HEADS + tl.arange(0, 4))
    v_12 = tl.load(ptrs_9)
