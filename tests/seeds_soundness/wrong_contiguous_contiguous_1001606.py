# ruff: noqa
"""Once: wrong contiguous, claimed contiguous (generator seed 1001606)."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, width, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    offs_n_2 = BLOCK_N + tl.arange(0, BLOCK_N)
    v_3 = tl.load(
        y_ptr
        + tl.reshape(tl.arange(0, BLOCK_M)[:, None] * 4 + tl.minimum(offs_n_2, width), [BLOCK_M * BLOCK_N])
    )
