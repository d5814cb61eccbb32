# ruff: noqa
"""Lanes that choose between two places are not uniform; lanes that change in a loop are not those of its start."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, N, M, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    v_1 = tl.load(x_ptr + tl.where(offs < N, 5, 0))
    v_2 = tl.load(x_ptr + tl.where(offs % 2 == 1, pid * N + 3, M))
    v_3 = tl.load(x_ptr + tl.minimum(offs, 1) * 7)
    at = offs
    for k in range(0, 3):
        v_4 = tl.load(x_ptr + at)
        at = at * 2
    to = offs
    for k in range(0, 3):
        tl.store(y_ptr + to, 1.0)
        to = (to + 1) % 5
    two = offs
    for k in range(0, 3):
        tl.store(y_ptr + two, 1.0)
        two = offs * 4
    some = offs * N
    if tl.load(x_ptr + pid) > 9:
        some = offs
    tl.store(y_ptr + some, 1.0)
