"""
A load whose lanes are apart in memory along every axis of its tile.

## What it does
Reports a load with the verdict `strided`: along each tile axis that changes the address, neighbouring
elements are not neighbours in memory, whatever the launch passes. The message names the axis with the
smallest step, the step (the multiplier of the lane-varying term, in elements), the scalar that walks the
unit stride where there is one (`pid0` stands for `tl.program_id(0)`), and one way out.

A load is reported only where it can matter. It is left out when fewer than 32 elements of its tile have
addresses of their own, when the lanes of a warp lie in no more sectors than as many neighbours would
(elements that lanes share, an order that is shuffled within the warp), when the kindest launch that can be
assumed loses nothing by it, and when it touches at most an eighth of the sectors of the kernel's heaviest
access. For this estimate a strided element costs one sector, a contiguous one an eighth of a sector, each
name in an extent is taken as 64 and each loop around the access as 64 turns. So a strided vector beside a
two-dimensional tile, a scale for each block of one, or a small table that is read before the loop that does
the work, is left out.

A tile whose unit stride is on an axis other than the last is not strided: the compiler puts the lanes on
that axis.

## Why is this bad
Memory moves in sectors of 32 bytes. A warp that reads 32 neighbouring fp32 values needs 4 sectors; with a
step of 8 elements or more it needs 32, and uses 4 bytes of each. The other 28 bytes are fetched, carried
through the L2 cache and thrown away, or have to survive in the L1 cache until someone else asks for them.

## Example
```python
import triton
import triton.language as tl


@triton.jit
def column_sum(x_ptr, out_ptr, n_rows, n_cols, BLOCK: tl.constexpr):
    col = tl.program_id(0)
    rows = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + rows * n_cols + col, mask=rows < n_rows, other=0.0)
    tl.store(out_ptr + col, tl.sum(x, axis=0))
```

## Use instead
```python
import triton
import triton.language as tl


@triton.jit
def column_sum(x_ptr, out_ptr, n_rows, n_cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    cols = tl.program_id(0) * COLS + tl.arange(0, COLS)
    total = tl.zeros((COLS,), dtype=tl.float32)
    for start in range(0, n_rows, ROWS):
        rows = start + tl.arange(0, ROWS)
        inside = (rows < n_rows)[:, None] & (cols < n_cols)[None, :]
        x = tl.load(x_ptr + rows[:, None] * n_cols + cols[None, :], mask=inside, other=0.0)
        total += tl.sum(x, axis=0)
    tl.store(out_ptr + cols, total, mask=cols < n_cols)
```

## How to fix
- A scalar walks the unit stride (a program id, a loop variable): give it a tile axis, so that one program
  reads whole sectors. Where it is a loop variable, the loop then steps by the extent of that axis.
- The address does not change in the loop: load before the loop.
- A constant step of 2 or 4 (interleaved parts): load one contiguous tile of all parts and take it apart with
  `tl.reshape` and `tl.split`.
- Otherwise no part of the kernel can walk the unit stride: change the layout where the tensor is made, for
  instance by transposing a weight once when it is loaded.

## Evidence
Measured on one NVIDIA H200 with hardware counters, Triton 3.6.0, unless said otherwise.

- A column of a row-major fp32 matrix: 32 sectors for each warp request where a row takes 4.
- Steps of 2, 3, 4 and 8 fp32 elements: 16, 24, 32 and 32 sectors for each request.
- Sums over a 4096x4096 fp32 matrix, 65,536 programs of 256 elements each: 44.6 us by rows, 110.6 us by
  columns (2.5 times). The L1 look-ups grow 8 times and the bytes from L2 7.8 times; the bytes from DRAM do
  not grow.
- The same on 256 MiB: 2.6 times the time of the sum by rows. Compiled by Triton 3.6.0 it takes 418 us, by
  3.9.0 430 us: a newer compiler does not repair it.
- Softmax over the columns instead of the rows: 9.9 times. Channel scale in NCHW with the lanes on channels,
  against NHWC: 8.3 times.
- Interleaved `2*i` and `2*i + 1` loads, read whole by the pair: no measurable loss of time on this device
  (99 us for the same bytes), because the L1 cache answers the second load; it is the look-ups that double.
"""

from collections.abc import Iterable

from coalesce_lint.access import Kernel
from coalesce_lint.advice import strided_accesses, strided_finding
from coalesce_lint.findings import Finding, Rule


class StridedLoad(Rule):
    code = "CL101"
    name = "strided-load"
    summary = "a load whose lanes are apart in memory along every axis of its tile"

    def check_kernel(self, kernel: Kernel) -> Iterable[Finding]:
        for access in strided_accesses(kernel, lambda a: not a.is_write and not a.is_atomic):
            yield from strided_finding(self, access, kernel)
