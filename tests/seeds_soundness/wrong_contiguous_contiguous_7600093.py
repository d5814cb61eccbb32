# ruff: noqa
"""Once: wrong contiguous, claimed contiguous (generator seeds 7600093 and 7600338)."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, N, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    v_1 = tl.load(x_ptr + tl.where(offs % 2 == 1, offs, 0))
    v_2 = tl.load(x_ptr + tl.where((offs - pid) % 3 < 1, offs - pid, 0))
    v_3 = tl.load(x_ptr + tl.where(offs % 16 < 9, offs, 0))
    v_4 = tl.load(x_ptr + tl.where(offs % 16 < 9, offs, offs + 100))
    tl.store(y_ptr + tl.where(offs // N < 2, offs, 0), 1.0)
