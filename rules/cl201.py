"""
A launch that passes a stride other than 1 for the axis of the lanes.

## What it does
Reports an access with the verdict `parametric` (contiguous exactly where the launch passes 1 for a stride
argument) where a launch in the checked files passes something else: the stride of an outer dimension, of a
transposed view, a literal. The access is named, with the argument and the launch as related location. An
access whose tile has several axes is judged by its best one, and only accesses that CL101 would report as
strided count: those that can matter to their kernel.

What is known of a stride comes from the host code. It is proved where the tensor was allocated there in the
default format, made contiguous, asserted or guarded; else the last dimension of a tensor is taken to have
stride 1 and the others are not (setting `assume-contiguous`), unless the function asserts otherwise, if only
under a switch (`if validate: assert x.stride(0) == 1`). A finding that rests on this has the confidence
`assumed`. Silent where the dimensions behind may be of size 1 (of (batch, channels, 1) the channels have
stride 1), and for the strides of an object that has attributes that no tensor has: its class chooses the
layout.

## Why is this bad
The kernel is right under any stride and fast under one. The launch decides, without a word: a transposed view
gives the same numbers at a fraction of the speed.

## Example
```python
import torch
import triton
import triton.language as tl


@triton.jit
def double(x_ptr, out_ptr, stride_m, stride_n, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride_m + cols * stride_n, mask=cols < n_cols)
    tl.store(out_ptr + row * n_cols + cols, 2 * x, mask=cols < n_cols)


def launch(n_rows, n_cols):
    x = torch.randn(n_cols, n_rows, device="cuda").t()
    out = torch.empty(n_rows, n_cols, device="cuda")
    double[(n_rows,)](x, out, x.stride(0), x.stride(1), n_cols, BLOCK=1024)
```

## Use instead
```python
import torch
import triton
import triton.language as tl


@triton.jit
def double(x_ptr, out_ptr, stride_m, stride_n, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride_m + cols * stride_n, mask=cols < n_cols)
    tl.store(out_ptr + row * n_cols + cols, 2 * x, mask=cols < n_cols)


def launch(n_rows, n_cols):
    x = torch.randn(n_rows, n_cols, device="cuda")
    out = torch.empty(n_rows, n_cols, device="cuda")
    double[(n_rows,)](x, out, x.stride(0), x.stride(1), n_cols, BLOCK=1024)
```

## How to fix
- Make the tensor with the wanted dimension last, where it is made.
- Put the lanes along the dimension that has stride 1 in the given layout; where both layouts occur, give the
  tile an axis along each and let the compiler choose.
- A tensor that is used more often than once may be worth a `.contiguous()` copy at its source.

## Evidence
That of CL101 (measured on one NVIDIA H200): a column of a row-major fp32 matrix takes 32 sectors for each
warp request where a row takes 4; sums over a 4096x4096 matrix take 2.5 times as long by columns.
"""

from collections.abc import Iterable
from dataclasses import replace

from coalesce_lint.access import Access, Kernel, LaunchAxis, UnderLaunch
from coalesce_lint.advice import operation, strided_accesses
from coalesce_lint.findings import Finding, Rule
from coalesce_lint.launches.strides import GUESSED

#: Launches that are named in one finding.
NAMED = 3


class StridedByLaunch(Rule):
    code = "CL201"
    name = "strided-by-launch"
    summary = "a launch that passes a stride other than 1 for the axis of the lanes"

    def check_kernel(self, kernel: Kernel) -> Iterable[Finding]:
        found: dict[int, list[UnderLaunch]] = {}
        accesses = []
        for access in kernel.accesses:
            bad = [u for u in access.launches if u.pattern == "strided" and not _guessed(u)]
            bad = bad if access.pattern == "parametric" else []
            if bad:
                best = _best(access, bad[0])
                access = replace(
                    access,
                    pattern="strided",
                    lane_axis=best.axis if best is not None else access.lane_axis,
                    lane_stride=(best.stride if best is not None else None) or access.lane_stride,
                )
                found[id(access)] = bad
            accesses.append(access)
        if not found:
            return
        changed = replace(kernel, accesses=accesses)
        for access in strided_accesses(changed, lambda a: id(a) in found):
            yield self._finding(access, found[id(access)])

    def _finding(self, access: Access, bad: list[UnderLaunch]) -> Finding:
        proved = [u for u in bad if u.basis == "proved"]
        shown = (proved or bad)[:NAMED]
        first = shown[0]
        more = f" and {len(bad) - 1} more" if len(bad) > 1 else ""
        message = (
            f"{operation(access)} of {access.pointer} is strided under the launch in "
            f"{first.place.path}:{first.place.line}{more}: {_steps(access, first)}; pass a tensor whose "
            f"stride is 1 there, or put the lanes along the dimension that has it"
        )
        related = [(u.place, f"launched here by {u.function}") for u in shown]
        related += [(c.place, f"called from {c.function}") for c in access.call_chain]
        return self.finding(access, message, confidence=first.basis, related=related)


def _guessed(under: UnderLaunch) -> bool:
    """Whether the verdict rests on how many dimensions the function asks for: branches may differ in that."""
    return any(a.why.startswith(GUESSED) for a in under.axes)


def _steps(access: Access, under: UnderLaunch) -> str:
    """How far a lane steps along each axis of the tile, in words."""
    passed = {a.axis: a for a in under.axes}
    steps = []
    for axis in access.axes:
        if axis.stride == "0":
            continue
        given = passed.get(axis.axis)
        why = f" ({given.why})" if given is not None and given.why else ""
        step = given.argument if given is not None else axis.stride or "no single stride"
        steps.append((axis.axis, step + why))
    if len(steps) == 1:
        return f"lanes along axis {steps[0][0]} step by {steps[0][1]}"
    parts = [f"axis {axis} {'steps by' if k == 0 else 'by'} {step}" for k, (axis, step) in enumerate(steps)]
    return f"no axis of its tile has stride 1: {', '.join(parts)}"


def _best(access: Access, under: UnderLaunch) -> LaunchAxis | None:
    """The axis that serves the lanes best: that of the smallest step, where there are numbers."""
    passed = {a.axis for a in under.axes}
    fixed = [LaunchAxis(a.axis, "", a.stride) for a in access.axes if a.axis not in passed]
    steps = [*under.axes, *(a for a in fixed if a.stride != "0")]
    numbers = [a for a in steps if a.stride is not None and a.stride.lstrip("-").isdecimal()]
    if numbers:
        return min(numbers, key=lambda a: abs(int(a.stride or 0)) or 1 << 40)
    return next((a for a in under.axes if a.axis == access.lane_axis), None)
