"""Launches whose slowdown ``coalesce-lint verify`` measures; the results lie under docs/evidence.

    coalesce-lint verify --counters --json column_sum.json benchmarks/verified_kernels.py column_sum

The sizes are those of a large GPU; ``--small`` makes them small enough for the interpreter on a CPU.
"""

import sys

import torch
import triton
import triton.language as tl

SMALL = "--small" in sys.argv
DEVICE = "cuda"


@triton.jit
def column_sum(x_ptr, partial_ptr, n_cols, BLOCK: tl.constexpr):
    """Each program sums BLOCK rows of one column; neighbouring programs take neighbouring columns."""
    program = tl.program_id(0)
    column = program % n_cols
    rows = program // n_cols * BLOCK + tl.arange(0, BLOCK)
    tl.store(partial_ptr + program, tl.sum(tl.load(x_ptr + rows * n_cols + column), axis=0))


def launch_column_sum():
    n, block = (64, 32) if SMALL else (4096, 256)
    x = torch.randn(n, n, device=DEVICE)
    partial = torch.empty(n * n // block, device=DEVICE)
    column_sum[(n * n // block,)](x, partial, n, BLOCK=block)


@triton.autotune(
    [
        triton.Config({"BLOCK": block}, num_warps=warps)
        for block, warps in ((128, 1), (256, 2), (512, 4), (1024, 4), (1024, 8), (4096, 8))
    ],
    key=["n_rows"],
)
@triton.jit
def tuned_column_sum(x_ptr, out_ptr, n_rows, n_cols, BLOCK: tl.constexpr):
    """Each program sums one column, BLOCK rows at a time."""
    column = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n_rows, BLOCK):
        rows = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + rows * n_cols + column, mask=rows < n_rows, other=0.0)
    tl.store(out_ptr + column, tl.sum(total, axis=0))


def launch_tuned_column_sum():
    n = 256 if SMALL else 4096
    tuned_column_sum[(n,)](torch.randn(n, n, device=DEVICE), torch.empty(n, device=DEVICE), n, n)


@triton.jit
def channel_scale(x_ptr, scale_ptr, channels, pixels, BLOCK: tl.constexpr):
    """Scales the channels of an NCHW tensor in place, one pixel a program, image after image."""
    program = tl.program_id(0)
    pixel = program % pixels
    image = program // pixels
    channel = tl.arange(0, BLOCK)
    inside = channel < channels
    offsets = image * channels * pixels + channel * pixels + pixel
    x = tl.load(x_ptr + offsets, mask=inside)
    tl.store(x_ptr + offsets, x * tl.load(scale_ptr + channel, mask=inside), mask=inside)


def launch_channel_scale():
    on_images(channel_scale)


@triton.jit
def softmax_dim0(out_ptr, in_ptr, in_row, in_col, out_row, out_col, n_rows, BLOCK: tl.constexpr):
    """Softmax over the outer dimension, one column a program."""
    column = tl.program_id(0)
    rows = tl.arange(0, BLOCK)
    inside = rows < n_rows
    x = tl.load(in_ptr + rows * in_row + column * in_col, mask=inside, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + rows * out_row + column * out_col, e / tl.sum(e, axis=0), mask=inside)


def launch_softmax_dim0():
    n = 64 if SMALL else 4096
    x = torch.randn(n, n, device=DEVICE)
    out = torch.empty_like(x)
    softmax_dim0[(n,)](out, x, *x.stride(), *out.stride(), n, BLOCK=n, num_warps=8)


@triton.jit
def contiguous_copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


def launch_contiguous_copy():
    n = 4096 if SMALL else 2**24
    x = torch.randn(n, device=DEVICE)
    contiguous_copy[(triton.cdiv(n, 1024),)](x, torch.empty_like(x), n, BLOCK=1024)


@triton.jit
def transposed_tile(x_ptr, out_ptr, M, N, B: tl.constexpr):
    """The tile's first axis is the contiguous one; the lanes go along it."""
    m = tl.program_id(0) * B + tl.arange(0, B)
    n = tl.program_id(1) * B + tl.arange(0, B)
    offsets = n[None, :] * M + m[:, None]
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) * 2)


def launch_transposed_tile():
    n, block = (64, 32) if SMALL else (4096, 64)
    x = torch.randn(n, n, device=DEVICE)
    transposed_tile[(n // block, n // block)](x, torch.empty_like(x), n, n, B=block)


def on_images(kernel):
    images, channels, side = (2, 32, 4) if SMALL else (64, 256, 56)
    x = torch.randn(images, channels, side, side, device=DEVICE)
    scale = torch.randn(channels, device=DEVICE)
    kernel[(images * side * side,)](x, scale, channels, side * side, BLOCK=channels)


if __name__ == "__main__":
    for name in [a for a in sys.argv[1:] if not a.startswith("-")]:
        globals()[f"launch_{name}"]()
