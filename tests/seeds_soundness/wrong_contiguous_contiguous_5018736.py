# ruff: noqa
"""Once: wrong contiguous, claimed contiguous (generator seed 5018736)."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, height, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    offs_n_3 = tl.arange(0, BLOCK_N)
    v_4 = tl.load(
        z_ptr
        + tl.reshape(
            (((tl.arange(0, BLOCK_M) * 33 - 4) // 3)[:, None] * 64 + offs_n_3) // height, [BLOCK_M * BLOCK_N]
        )
    )
