"""
Runs of neighbours that are shorter than a sector.

## What it does
Reports an access with a unit stride whose runs of neighbours fill sectors only in part: a tile of 128 rows
with 4 fp32 values each and a pitch of thousands, or an index that jumps every 4 elements. The rest of each
sector is fetched and not asked for, as far as one program goes.

It counts under the kindest of the assumed launches and, for an autotuned kernel, the kindest of its
configurations; at least half as many bytes again must be fetched as are needed. Extents that the kernel does
not say count as large, element types that neither an annotation nor the setting `element-types` gives as
fp32, so that halves of sectors are told only where they are sure. An access is left out by the same weights
as for CL101.

## Why is this bad
Memory moves in sectors of 32 bytes. A run of 16 bytes costs a whole sector when it is read, and a partial
write, which costs about double, when it is stored. Another program, or the next turn of the loop, may use
the rest while a cache still holds it; nothing makes sure that it does.

## Example
```python
import triton
import triton.language as tl


@triton.jit
def head_of_rows(x_ptr, y_ptr, pitch, ROWS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, 4)
    x = tl.load(x_ptr + rows[:, None] * pitch + cols[None, :])
    tl.store(y_ptr + rows[:, None] * 4 + cols[None, :], x)
```

## Use instead
```python
import triton
import triton.language as tl


@triton.jit
def head_of_rows(x_ptr, y_ptr, pitch, ROWS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, 8)
    x = tl.load(x_ptr + rows[:, None] * pitch + cols[None, :])
    tl.store(y_ptr + rows[:, None] * 8 + cols[None, :], x)
```

## How to fix
- Give the axis with the unit stride at least 32 bytes: 8 fp32 or 16 fp16 elements, and take less of the
  other axis.
- Store what is read together next to each other.

## Evidence
One NVIDIA H200, hardware counters: fp16 tiles of 128x8 and fp32 tiles of 128x4 with a pitch of 1024 take 32
sectors for each request where 16 would do, with Triton 3.6.0 and 3.9.0. Sectors that are written in part cost
about twice what they cost when read: 142 against 78 us for the same elements with a step of 8.
"""

from collections.abc import Iterable

from coalesce_lint.access import Kernel
from coalesce_lint.advice import operation, worth_telling
from coalesce_lint.findings import Finding, Rule
from coalesce_lint.losses import short_runs, surest_loss
from coalesce_lint.waste import waste_of

#: Bytes fetched over bytes needed from which on it is told.
LEAST = 1.5


class PartialSectors(Rule):
    code = "CL104"
    name = "partial-sectors"
    summary = "runs of neighbours that are shorter than a sector"

    def check_kernel(self, kernel: Kernel) -> Iterable[Finding]:
        for access in worth_telling(kernel):
            if access.pattern != "contiguous" or "rows=gather" in access.notes:
                continue
            if not short_runs(access, kernel) or surest_loss(access, kernel) is not None:
                continue
            found = waste_of(access, kernel)
            if found is None or found.traffic < LEAST:
                continue
            size = found.cost.element_bytes
            yield self.finding(
                access,
                f"{operation(access)} of {access.pointer}: runs along axis {access.lane_axis} fill sectors "
                f"only in part ({found.words}); give the axis at least {32 // size} elements of {size} bytes",
            )
