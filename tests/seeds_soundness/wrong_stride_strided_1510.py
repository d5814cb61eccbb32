# ruff: noqa
"""Once: wrong stride, claimed strided."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, n_cols, stride_ym, BLOCK_K: tl.constexpr, PACK: tl.constexpr):
    v_8 = tl.load(y_ptr + tl.maximum(tl.arange(0, BLOCK_K), 5) % PACK * n_cols * stride_ym)
