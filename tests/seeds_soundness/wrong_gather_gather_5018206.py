# ruff: noqa
"""Once: wrong gather, claimed gather (generator seed 5018206)."""

import triton
import triton.language as tl


@triton.jit
def kernel(index_ptr, z_ptr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    offs_n_3 = tl.arange(0, BLOCK_N)
    v_4 = tl.load(
        z_ptr
        + tl.reshape(
            (tl.load(index_ptr + tl.arange(0, BLOCK_M))[:, None] * 16 + tl.maximum(offs_n_3, 2)) % 16,
            [BLOCK_M * BLOCK_N],
        )
    )
