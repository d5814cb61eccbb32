# ruff: noqa
"""Once: wrong stride, claimed strided (generator seed 5091876)."""

import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    v_4 = tl.load(
        x_ptr
        + tl.reshape(
            tl.arange(0, BLOCK_M)[:, None, None]
            + (tl.arange(0, 8) - 4) // 5 * 5
            + tl.arange(0, BLOCK_N)[None, :, None],
            [BLOCK_M * BLOCK_N * 8],
        )
    )
