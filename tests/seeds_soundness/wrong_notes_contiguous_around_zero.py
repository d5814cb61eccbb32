# ruff: noqa
"""A truncated division has one longer group around zero, and one wrap turns at another lane: piecewise."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, N, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    v_1 = tl.load(x_ptr + (offs - N) // 4)
    v_2 = tl.load(x_ptr + (offs - 7) // WIDTH)
    tl.store(y_ptr + (offs - 7) % 16, 1.0)
    tl.store(y_ptr + tl.minimum(offs * 3, N - 1), 1.0)
