# ruff: noqa
"""Scalars in the printed offset: quotients that round up, conditions as numbers, moved blocks, late starts, joins."""

import triton
import triton.language as tl


@triton.jit
def kernel(y_ptr, z_ptr, x_ptr, n_cols, height, M, stride_ym, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, BLOCK_M)
    either = ((pid < height) | (pid < n_cols)).to(tl.int32)
    v_1 = tl.load(y_ptr + i + 64 * either)
    v_2 = tl.load(y_ptr + i * tl.cdiv(n_cols, 4))
    late = tl.arange(BLOCK_N, 2 * BLOCK_N)
    v_3 = tl.load(z_ptr + late * stride_ym + pid)
    tile = tl.make_block_ptr(z_ptr, (M, n_cols), (n_cols, 1), (pid * BLOCK_M, 0), (BLOCK_M, BLOCK_N), (1, 0))
    tile = tl.advance(tile, (BLOCK_M, BLOCK_N))
    v_4 = tl.load(tile)
    v_5 = tl.load(y_ptr + tl.join(i, i + 5))
    v_6 = tl.load(y_ptr + tl.interleave(i, i + 5))
    tl.store(x_ptr + i, v_1)
