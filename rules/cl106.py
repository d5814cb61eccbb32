"""
A scalar access in a loop.

## What it does
Reports a load or store of one element, without a `tl.arange`, in a loop that moves its address: the loop
walks a tensor element by element. Off by default: a loop over a page table or a list of lengths is right as
it is, and such loops are the greater part in real kernels.

## Why is this bad
Each turn of the loop asks for one element and waits for it: one request a warp for a sector of which four
bytes are used. A tile of 32 or more elements asks for all of them at once.

## Example
```python
import triton
import triton.language as tl


@triton.jit
def row_sum(x_ptr, out_ptr, n_cols):
    row = tl.program_id(0)
    total = 0.0
    for k in range(n_cols):
        total += tl.load(x_ptr + row * n_cols + k)
    tl.store(out_ptr + row, total)
```

## Use instead
```python
import triton
import triton.language as tl


@triton.jit
def row_sum(x_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n_cols, BLOCK):
        k = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * n_cols + k, mask=k < n_cols, other=0.0)
    tl.store(out_ptr + row, tl.sum(total, axis=0))
```

## How to fix
Replace the loop by a `tl.arange` and a reduction, or read the elements as a tile before the loop. Where the
next address depends on the value (a linked list, a search), leave it.

## Evidence
By the rules of counting that agree with an H200's counters: a scalar load is one request for every warp of
the program, of one sector each. What it costs in time was not measured.
"""

from collections.abc import Iterable

from coalesce_lint.access import Access, Kernel
from coalesce_lint.advice import operation
from coalesce_lint.findings import Finding, Rule


class ScalarInLoop(Rule):
    code = "CL106"
    name = "scalar-in-loop"
    summary = "a scalar access in a loop"
    default = False
    severity = "info"

    def check_access(self, access: Access, kernel: Kernel) -> Iterable[Finding]:
        if access.op not in ("load", "store") or access.extents or access.pattern != "uniform":
            return
        if access.loop_depth == 0 or access.reused:
            return
        yield self.finding(
            access,
            f"{operation(access)} of {access.pointer} moves one element a turn of the loop "
            f"({access.offset}); take a tile with tl.arange",
        )
