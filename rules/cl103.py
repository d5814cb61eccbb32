"""
An atomic operation whose lanes are apart in memory along every axis of its tile.

## What it does
Reports `tl.atomic_add` and its relatives where the verdict is `strided`. The message names the axis, its
step in elements, the scalar that walks the unit stride where there is one, and one way out. Atomics are
weighed as loads are (see CL101): tiles of fewer than 32 elements, and atomics that touch at most an eighth
of the sectors of the kernel's heaviest access, are left out.

## Why is this bad
Atomics on global memory are carried out in the L2 cache. Lanes whose addresses share a sector can go there
together; lanes that are apart cannot, and the L1 cache does not help, because each operation has to reach
the L2 cache anyway.

## Example
```python
import triton
import triton.language as tl


@triton.jit
def add_column(x_ptr, sums_ptr, n_rows, n_cols, BLOCK: tl.constexpr):
    col = tl.program_id(0)
    rows = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + col * n_rows + rows, mask=rows < n_rows)
    tl.atomic_add(sums_ptr + rows * n_cols + col, x, mask=rows < n_rows)
```

## Use instead
```python
import triton
import triton.language as tl


@triton.jit
def add_columns(x_ptr, sums_ptr, n_rows, n_cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    cols = tl.program_id(0) * COLS + tl.arange(0, COLS)
    rows = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    inside = (rows < n_rows)[:, None] & (cols < n_cols)[None, :]
    x = tl.load(x_ptr + cols[None, :] * n_rows + rows[:, None], mask=inside)
    tl.atomic_add(sums_ptr + rows[:, None] * n_cols + cols[None, :], x, mask=inside)
```

## How to fix
- A scalar walks the unit stride: give it a tile axis, as above.
- Reduce in the program first (`tl.sum` over the axis that all programs share), so that one atomic along the
  unit stride is left for each program.
- Otherwise lay the output out so that a tile axis is its last dimension.

## Evidence
What was measured on one NVIDIA H200 with Triton 3.6.0 are loads and stores, not atomics: a warp whose lanes
step by 8 fp32 elements or more touches 32 sectors where neighbouring lanes touch 4, and written partial
sectors cost about twice the read ones. That strided atomics cost at least as much as strided stores is
inferred from this, not measured.
"""

from collections.abc import Iterable

from coalesce_lint.access import Kernel
from coalesce_lint.advice import strided_accesses, strided_finding
from coalesce_lint.findings import Finding, Rule


class StridedAtomic(Rule):
    code = "CL103"
    name = "strided-atomic"
    summary = "an atomic operation whose lanes are apart in memory along every axis of its tile"

    def check_kernel(self, kernel: Kernel) -> Iterable[Finding]:
        for access in strided_accesses(kernel, lambda a: a.is_atomic):
            yield from strided_finding(self, access, kernel)
