# ruff: noqa
"""Once: wrong stride, claimed strided."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, M, BLOCK_N: tl.constexpr):
    pid = tl.program_id(0)
    offs_n_5 = tl.arange(0, BLOCK_N)
    v_6 = tl.load(y_ptr + tl.where(offs_n_5 < M, offs_n_5, offs_n_5 + pid) * 16)
