# ruff: noqa
"""Once: wrong offset, claimed parametric (generator seed 2104253)."""

import triton
import triton.language as tl


@triton.jit
def kernel(index_ptr, z_ptr, stride_zk, BLOCK_N: tl.constexpr):
    pid = tl.program_id(0)
    begin_3 = tl.load(index_ptr)
    z_ptr += begin_3
    offs_5 = tl.arange(0, BLOCK_N)
    base_6 = tl.where(pid > 1, 0, z_ptr)
    v_7 = tl.load(base_6 + (offs_5 * stride_zk + offs_5 // 7))
