"""
A store whose lanes are apart in memory along every axis of its tile.

## What it does
Reports a store with the verdict `strided`: along each tile axis that changes the address, neighbouring
elements are not neighbours in memory, whatever the launch passes. The message names the axis, its step in
elements, the scalar that walks the unit stride where there is one, and one way out. Stores are weighed as
loads are (see CL101): tiles of fewer than 32 elements, and stores that touch at most an eighth of the
sectors of the kernel's heaviest access, are left out.

## Why is this bad
A store that fills 4 bytes of a 32-byte sector makes the memory system write a partial sector. Partial
sectors are worse than wasted reads: they travel with a byte mask each, and the L2 cache takes them more
slowly than full sectors.

## Example
```python
import triton
import triton.language as tl


@triton.jit
def transpose_row(x_ptr, y_ptr, n_rows, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols)
    tl.store(y_ptr + cols * n_rows + row, x, mask=cols < n_cols)
```

## Use instead
```python
import triton
import triton.language as tl


@triton.jit
def transpose_tile(x_ptr, y_ptr, n_rows, n_cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.program_id(1) * COLS + tl.arange(0, COLS)
    inside = (rows < n_rows)[:, None] & (cols < n_cols)[None, :]
    x = tl.load(x_ptr + rows[:, None] * n_cols + cols[None, :], mask=inside)
    tl.store(y_ptr + cols[None, :] * n_rows + rows[:, None], x, mask=inside)
```

## How to fix
- A scalar walks the unit stride (a program id, a loop variable): give it a tile axis. In the example above
  the store's tile then has stride 1 along axis 0, and the compiler converts the tile between the two
  layouts in shared memory.
- Interleaved parts (a step of 2 or 4): put them together with `tl.join` and store one contiguous tile.
- Otherwise lay the output out so that a tile axis is its last dimension, and let the consumer read it that
  way.

## Evidence
Measured on one NVIDIA H200 with hardware counters, Triton 3.6.0.

- A store of every eighth fp32 element takes 142 us where a load of the same elements takes 78 us: written
  partial sectors cost about twice the read ones (671 MB against 453 MB beyond the L1 cache).
- Ceilings seen: about 3.3 TB/s of partial-sector writes, against 6.2 TB/s for reads and full writes that
  the L2 cache serves.
- Tiles of 256 MiB fp32, loaded by rows and stored by columns: 286 us, 2.1 times the time of the version
  that stores by rows.
- A 64x64 tile stored with its unit stride on axis 0 needs no more sectors than one with it on axis 1 (16
  for each request): a transposed store of a tile is perfect.
"""

from collections.abc import Iterable

from coalesce_lint.access import Kernel
from coalesce_lint.advice import strided_accesses, strided_finding
from coalesce_lint.findings import Finding, Rule


class StridedStore(Rule):
    code = "CL102"
    name = "strided-store"
    summary = "a store whose lanes are apart in memory along every axis of its tile"

    def check_kernel(self, kernel: Kernel) -> Iterable[Finding]:
        for access in strided_accesses(kernel, lambda a: a.is_write):
            yield from strided_finding(self, access, kernel)
