"""
Loads that each take every n-th element of a tensor and together take all of them.

## What it does

Reports, once for the group, loads that each take every n-th element of a tensor and together take all of
them: `x[2*i]` beside `x[2*i + 1]`, the columns of a pooling window. They are then not reported one by one as
CL101.

## Why is this bad

Each load asks for every sector of the span and uses a part of it. The sectors are the same for all loads of
the group, so L1 answers all but the first, and reads lose no time as long as the look-ups are not the limit:
it is a matter of instructions and look-ups, not of traffic. Hence the severity info.

## Example

```python
import triton
import triton.language as tl


@triton.jit
def magnitudes(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    re = tl.load(x_ptr + 2 * i)
    im = tl.load(x_ptr + 2 * i + 1)
    tl.store(y_ptr + i, re * re + im * im)
```

## Use instead

```python
import triton
import triton.language as tl


@triton.jit
def magnitudes(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    pair = tl.arange(0, 2)
    both = tl.load(x_ptr + 2 * i[:, None] + pair[None, :])
    re, im = tl.split(both)
    tl.store(y_ptr + i, re * re + im * im)
```

## How to fix

Load the whole span as one contiguous tile whose last axis tells the parts apart, and take it apart with
`tl.split` (two parts; twice for four). Where the parts are no power of two, or the loads stand in different
branches, leave it.

## Evidence

NVIDIA H200, Triton 3.6.0, 256 MiB of fp32: two loads of `2*i` and `2*i + 1` take 99 us, as long as reading
the same bytes whole, with 32 sectors a request at L1 (2282 MB of look-ups for 605 MB that leave it).
"""

from __future__ import annotations

from collections.abc import Iterable

from coalesce_lint.access import Kernel
from coalesce_lint.advice import dense
from coalesce_lint.findings import Finding, Rule
from coalesce_lint.siblings import interleaved_groups


class InterleavedLoads(Rule):
    code = "CL105"
    name = "interleaved-loads"
    summary = "loads that each take every n-th element and together all of them"
    severity = "info"

    def check_kernel(self, kernel: Kernel) -> Iterable[Finding]:
        for group in interleaved_groups(kernel):
            first = group[0]
            if dense(first):
                continue  # lanes that share elements: nothing is looked up twice
            parts = first.part.step if first.part else 0
            unit = f"*{first.part.unit}" if first.part and first.part.unit else ""
            others = [(a.place, "loads another part") for a in group[1:]]
            yield self.finding(
                first,
                f"{len(group)} loads of {first.pointer} step by {parts}{unit} elements along axis "
                f"{first.lane_axis} "
                f"and together take all of them: L1 answers the repeated look-ups; one tile of "
                f"{parts} neighbours, taken apart with tl.split, needs fewer",
                related=others,
            )
