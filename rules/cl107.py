"""
An access whose neighbouring lanes go wherever loaded values send them.

## What it does
Lists every access with the verdict `gather`: along each tile axis that changes the address, the address
depends on values that were loaded (an index, a bucket, the place of a maximum), so that neighbouring lanes
need not be neighbours in memory. Rows that are gathered while a dense axis lies inside them are `contiguous`
and are not listed. Neither is a compaction (`tl.cumsum` of a mask): its active lanes fill consecutive
places. The rule is off by default, because many gathers are what the kernel is for.

## Why is this bad
In the worst case each lane of a warp touches a sector of its own: 32 sectors of 32 bytes for 32 elements,
of which 4 bytes each are used where the elements are fp32. How bad it is depends on the values. Sorted or
clustered indices come close to a contiguous access.

## Example
```python
import triton
import triton.language as tl


@triton.jit
def one_column(index_ptr, x_ptr, out_ptr, D: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(index_ptr + i)
    x = tl.load(x_ptr + row * D)
    tl.store(out_ptr + i, x)
```

## Use instead
```python
import triton
import triton.language as tl


@triton.jit
def whole_rows(index_ptr, x_ptr, out_ptr, D: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    row = tl.load(index_ptr + i)
    x = tl.load(x_ptr + row[:, None] * D + d[None, :])
    tl.store(out_ptr + i[:, None] * D + d[None, :], x)
```

## How to fix
- Make what belongs to one index a tile axis of stride 1 (a whole row, a whole page), so that each index
  costs full sectors.
- Sort or group the indices where they are made, so that neighbouring lanes get neighbouring or equal ones.
- A scatter with few targets (a histogram): reduce in the program first, then write each target once.
- A small table: gather from one that stays in the L1 cache, or load it whole and select in registers.
- Otherwise nothing: the access is what the kernel is for.

## Evidence
Measured on one NVIDIA H200 with hardware counters, Triton 3.6.0: a gather of fp32 elements by an index tile
of 1024 touches 32 sectors in each warp request, the most that there are; neighbouring lanes with one element
a thread touch 4. What it costs in time depends on the indices and on the size of the table.
"""

from collections.abc import Iterable

from coalesce_lint.access import Access, Kernel
from coalesce_lint.advice import operation
from coalesce_lint.findings import Finding, Rule

LONGEST_OFFSET = 60


class Gather(Rule):
    code = "CL107"
    name = "gather"
    summary = "an access whose neighbouring lanes go wherever loaded values send them"
    default = False
    severity = "info"

    def check_access(self, access: Access, kernel: Kernel) -> Iterable[Finding]:
        if access.pattern != "gather" or "compaction" in access.notes:
            return
        yield self.finding(
            access,
            f"{operation(access)} of {access.pointer} is a gather: neighbouring lanes along {_axes(access)} "
            f"go wherever loaded values send them{_offset(access)}; {_way_out(access)}",
        )


def _axes(access: Access) -> str:
    numbers = [str(a.axis) for a in access.axes if a.stride != "0"]
    return f"axis {numbers[0]}" if len(numbers) == 1 else f"axes {' and '.join(numbers)}"


def _offset(access: Access) -> str:
    return f" (offset {access.offset})" if len(access.offset) <= LONGEST_OFFSET else ""


def _way_out(access: Access) -> str:
    if access.is_atomic:
        return "reduce equal targets in the program first, or sort the indices"
    return "make what belongs to one index a tile axis of stride 1, or sort the indices"
