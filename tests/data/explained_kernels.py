"""Kernels for `explain --compiled`: one that is autotuned, some that do not compile."""
import triton
import triton.language as tl


@triton.jit
def rows(x_ptr, y_ptr, stride, n_cols, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.arange(0, BN)
    mask = n[None, :] < n_cols
    x = tl.load(x_ptr + m[:, None] * stride + n[None, :], mask=mask)
    tl.store(y_ptr + m[:, None] * stride + n[None, :], x, mask=mask)


@triton.autotune([triton.Config({"BLOCK": 2048}, num_warps=8), triton.Config({"BLOCK": 64})], key=["n"])
@triton.heuristics({"TWICE": lambda args: args["n"] > 100})
@triton.jit
def tuned(x_ptr, y_ptr, n, BLOCK: tl.constexpr, TWICE: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    if TWICE:
        x = x * 2
    tl.store(y_ptr + i, x, mask=i < n)


@triton.jit
def gathered(x_ptr, index_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    j = tl.load(index_ptr + i)
    tl.store(y_ptr + i, tl.load(x_ptr + j))


@triton.jit
def _wrong(x):
    return x + no_such_name


@triton.jit
def broken(x_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x_ptr + i, _wrong(tl.load(x_ptr + i)))


@triton.jit
def odd_block(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 0)
