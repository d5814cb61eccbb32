"""
An access that is contiguous only for some values of a stride argument.

## What it does
Lists every access with the verdict `parametric`: no tile axis has stride 1 for sure, but an axis is
multiplied by a bare stride argument, and the access is contiguous exactly where the launch passes 1 for it.
The message gives the condition. The rule is off by default: most such kernels are launched with the stride
they were written for.

## Why is this bad
It is bad only under a launch that breaks the condition, such as a transposed view. Nothing in the kernel
fails then; it becomes slow without a word.

## Example
```python
import triton
import triton.language as tl


@triton.jit
def scale_rows(x_ptr, y_ptr, stride_xm, stride_xn, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride_xm + cols * stride_xn, mask=cols < n_cols)
    tl.store(y_ptr + row * n_cols + cols, 2 * x, mask=cols < n_cols)
```

## Use instead
```python
import triton
import triton.language as tl


@triton.jit
def scale_rows(x_ptr, y_ptr, stride_xm, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride_xm + cols, mask=cols < n_cols)
    tl.store(y_ptr + row * n_cols + cols, 2 * x, mask=cols < n_cols)
```

## How to fix
- Where the kernel is meant for one layout only: check the stride in the host function that launches it
  (`assert x.stride(-1) == 1`) and drop the argument, or write `tl.assume(stride_xn == 1)` in the kernel.
- Where every layout is welcome: nothing. Triton compiles a version of its own for a stride of 1.

## Evidence
Triton specializes an integer argument that equals 1, so the condition decides at compile time. Measured on
one NVIDIA H200: a row-major 64x64 fp32 tile with specialized strides takes 16 sectors for each request,
with its strides kept from being specialized 32 sectors in four times as many requests (Triton 3.6.0; 4
sectors with 3.9.0), and 7.3 times the time on 256 MiB tensors (Triton 3.6.0).
"""

from collections.abc import Iterable

from coalesce_lint.access import Access, Kernel
from coalesce_lint.advice import operation
from coalesce_lint.findings import Finding, Rule


class ParametricAccess(Rule):
    code = "CL100"
    name = "parametric-access"
    summary = "an access that is contiguous only for some values of a stride argument"
    default = False

    def check_access(self, access: Access, kernel: Kernel) -> Iterable[Finding]:
        if access.pattern != "parametric":
            return
        yield self.finding(
            access,
            f"{operation(access)} of {access.pointer} is contiguous only if {access.condition}: "
            f"lanes along axis {access.lane_axis} step by {access.lane_stride} elements; "
            f"check the stride where the kernel is launched, or drop the argument",
        )
