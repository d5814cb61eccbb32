"""
A unit stride that is taken for granted, while other tensors' strides are passed.

## What it does
Lists accesses whose lanes have the stride 1 written into the kernel (`x_ptr + row * stride_x + cols`) where
the same kernel multiplies the lanes of another tensor by a stride argument. Off by default: it is the fast
form, and often on purpose.

## Why is this bad
The signature suggests that any layout will do, and for one tensor it does not: a transposed view is read
wrong.

## Example
```python
import triton
import triton.language as tl


@triton.jit
def add_rows(x_ptr, y_ptr, stride_xm, stride_ym, stride_yn, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride_xm + cols, mask=cols < n_cols)
    tl.store(y_ptr + row * stride_ym + cols * stride_yn, x + 1, mask=cols < n_cols)
```

## Use instead
```python
import triton
import triton.language as tl


@triton.jit
def add_rows(x_ptr, y_ptr, stride_xm, stride_xn, stride_ym, stride_yn, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride_xm + cols * stride_xn, mask=cols < n_cols)
    tl.store(y_ptr + row * stride_ym + cols * stride_yn, x + 1, mask=cols < n_cols)
```

## How to fix
Take a stride for the last dimension of every tensor or of none; where there is none, assert
`x.stride(-1) == 1` in the host code.

## Evidence
This is about wrong results; there is nothing to measure. A stride argument that is 1 costs nothing: Triton
makes a constant of it.
"""

from collections.abc import Iterable

from coalesce_lint.access import Kernel
from coalesce_lint.advice import operation
from coalesce_lint.findings import Finding, Rule
from coalesce_lint.launches.pitches import STRIDE_NAME


class ImplicitUnitStride(Rule):
    code = "CL209"
    name = "implicit-unit-stride"
    summary = "a unit stride that is taken for granted, while other tensors' strides are passed"
    default = False
    severity = "info"

    def check_kernel(self, kernel: Kernel) -> Iterable[Finding]:
        given = [a for a in kernel.accesses if a.pattern == "parametric" and a.condition]
        if not given:
            return
        flexible = {a.pointer for a in given}
        other = (given[0].condition or "").split(" ==")[0]
        for access in kernel.accesses:
            if access.pattern != "contiguous" or access.lane_stride != "1" or access.pointer in flexible:
                continue
            rows = [n for s in access.summands if s.kinds for n in s.parameters if STRIDE_NAME.search(n)]
            if rows:
                message = (
                    f"{operation(access)} of {access.pointer} takes the stride along axis "
                    f"{access.lane_axis} to be 1, while {given[0].pointer} is read by {other}; "
                    f"pass a stride, or assert that it is 1"
                )
                yield self.finding(access, message)
