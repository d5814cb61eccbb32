"""
A row pitch that is assumed to be the row's length, with no stride passed.

## What it does
Lists accesses whose rows are a size apart (`row * n_cols + col`) in kernels that take no stride for the
tensor. Off by default: this is right for every contiguous tensor, and most kernels are written for those.

## Why is this bad
The kernel cannot be given a padded tensor or a slice of a larger one: it reads the wrong rows, and nothing
fails. Where such a tensor can arrive, CL202 reports the launch.

## Example
```python
import triton
import triton.language as tl


@triton.jit
def cap_rows(z_ptr, n_cols, cap, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    z = tl.load(z_ptr + row * n_cols + cols, mask=cols < n_cols)
    tl.store(z_ptr + row * n_cols + cols, tl.minimum(z, cap), mask=cols < n_cols)
```

## Use instead
```python
import triton
import triton.language as tl


@triton.jit
def cap_rows(z_ptr, stride_row, n_cols, cap, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    z = tl.load(z_ptr + row * stride_row + cols, mask=cols < n_cols)
    tl.store(z_ptr + row * stride_row + cols, tl.minimum(z, cap), mask=cols < n_cols)
```

## How to fix
Pass the row stride, or assert in the host code that the tensor is contiguous.

## Evidence
This is about wrong results; there is nothing to measure.
"""

from collections.abc import Iterable

from coalesce_lint.access import Access, Kernel
from coalesce_lint.advice import operation
from coalesce_lint.findings import Finding, Rule
from coalesce_lint.launches.pitches import STRIDE_NAME


class AssumedPitch(Rule):
    code = "CL208"
    name = "assumed-pitch"
    summary = "a row pitch that is assumed to be the row's length, with no stride passed"
    default = False
    severity = "info"

    def check_kernel(self, kernel: Kernel) -> Iterable[Finding]:
        strided = {
            a.pointer
            for a in kernel.accesses
            if any(
                STRIDE_NAME.search(n) for s in a.summands for n in (*s.parameters, *s.constexprs, *s.inner)
            )
        }
        for access in kernel.accesses:
            size = None if access.pointer in strided else _pitch(access, kernel)
            if size is not None and access.pattern == "contiguous":
                message = (
                    f"{operation(access)} of {access.pointer} takes the row pitch to be {size}; "
                    "it is wrong for a "
                    f"padded or sliced tensor: pass a stride, or assert that the tensor is contiguous"
                )
                yield self.finding(access, message)


def _pitch(access: Access, kernel: Kernel) -> str | None:
    """The size that is the distance of rows: a runtime bound that multiplies an index off the lanes."""
    for summand in access.summands:
        off_lanes = summand.kinds and access.lane_axis not in summand.axes
        if off_lanes and summand.parameters and set(summand.parameters) <= kernel.sizes:
            return "*".join(summand.parameters)
    return None
