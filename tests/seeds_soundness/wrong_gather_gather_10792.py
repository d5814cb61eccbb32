# ruff: noqa
"""Once: wrong gather, claimed gather."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, index_ptr, width, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    offs_n_8 = 6 * BLOCK_N + tl.arange(0, BLOCK_N)
    v_9 = tl.load(
        y_ptr
        + tl.reshape(
            tl.load(index_ptr + tl.minimum(offs_n_8, width)) + tl.arange(0, BLOCK_M)[:, None],
            [BLOCK_M * BLOCK_N],
        )
    )
