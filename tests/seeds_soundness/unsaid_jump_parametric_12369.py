# ruff: noqa
"""Once: unsaid jump, claimed parametric."""

import triton
import triton.language as tl


@triton.jit
def fetch(p, i, s):
    at = p + i
    return tl.load(at, mask=i < s)


@triton.jit
def kernel(x_ptr, stride_zk, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, WIDTH: tl.constexpr):
    pid = tl.program_id(0)
    pid_n = tl.program_id(1)
    s_1 = pid_n // 7
    s_2 = tl.maximum((1 + pid_n), 5)
    v_3 = fetch(x_ptr, ((1 + 8) * BLOCK_N + tl.arange(0, BLOCK_N)), WIDTH)
    offs_4 = tl.arange(0, BLOCK_K)
    v_5 = tl.load(x_ptr + ((offs_4 * 2 - 5) // 2) * stride_zk)
