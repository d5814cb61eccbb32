# ruff: noqa
"""Once: unsaid jump, claimed contiguous (generator seed 7401534)."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, M, stride_xn, BLOCK_M: tl.constexpr):
    pid = tl.program_id(0)
    s_1 = (pid - M) % 7
    v_4 = tl.load(z_ptr + (tl.arange(0, BLOCK_M).to(tl.uint32) + (s_1 % M) * stride_xn))
    v_5 = tl.load(z_ptr + (tl.arange(0, BLOCK_M).to(tl.uint32) - M))
