# ruff: noqa
"""Once: wrong offset, claimed parametric."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, N, M, stride_xm, stride_zn, BLOCK_N: tl.constexpr):
    s_1 = 8
    s_2 = (s_1 - 9) % 8
    box_3 = tl.make_block_ptr(y_ptr, (N, M), (stride_xm, stride_zn), (s_2 * 4, 7 * 0), (4, BLOCK_N), (0, 1))
    v_4 = tl.load(box_3)
