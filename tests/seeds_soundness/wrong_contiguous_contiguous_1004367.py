# ruff: noqa
"""Once: wrong contiguous, claimed contiguous (generator seed 1004367)."""

import triton
import triton.language as tl


@triton.jit
def kernel(z_ptr, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    tl.atomic_add(
        z_ptr
        + tl.reshape(
            tl.arange(0, BLOCK_M)[:, None] * K + (3 - tl.minimum(BLOCK_N + tl.arange(0, BLOCK_N), K)),
            [BLOCK_M * BLOCK_N],
        ),
        1.0,
    )
