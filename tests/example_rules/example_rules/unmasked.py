"""
A store without a mask.

## What it does
Lists stores whose source has no `mask=`.

## Why is this bad
The last program of a grid writes past the end where the size is no multiple of the block.

## Example
```python
import triton
import triton.language as tl


@triton.jit
def copy(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i))
```

## Use instead
```python
import triton
import triton.language as tl


@triton.jit
def copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)
```

## How to fix
Give the store the mask of the load.

## Evidence
None; it is an example.
"""

from collections.abc import Iterable

from coalesce_lint.access import Access, Kernel
from coalesce_lint.findings import Finding, Rule


class UnmaskedStore(Rule):
    code = "CLX101"
    name = "unmasked-store"
    summary = "a store without a mask"
    severity = "info"

    def check_access(self, access: Access, kernel: Kernel) -> Iterable[Finding]:
        if access.op == "store" and "mask=" not in access.source:
            yield self.finding(access, f"store to {access.pointer} has no mask; give it the mask of the load")
