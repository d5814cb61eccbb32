# ruff: noqa
"""Once: wrong offset, claimed strided."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, BLOCK_N: tl.constexpr, WIDTH: tl.constexpr):
    v_4 = tl.load(
        z_ptr
        + tl.reshape(
            tl.maximum(tl.arange(0, 8), 3)[:, None] + (4 - tl.arange(0, BLOCK_N)) % 32 * WIDTH, [8 * BLOCK_N]
        )
    )
