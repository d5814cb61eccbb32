"""
A `.contiguous()` copy before a kernel that could read the view itself.

## What it does
Reports `.contiguous()` of a view that has to be copied (transposed, permuted, every second element, a slice
of columns) where the copy goes to a kernel that takes a stride for each of its dimensions, and every access
to it would be contiguous in the view's own layout, too: because the view keeps its last dimension, or because
the tile has an axis along the dimension that has stride 1. The finding stands at the copy.

## Why is this bad
The copy reads and writes the whole tensor, on every call: as much traffic as many kernels have altogether.
The kernel can already read the view, for it multiplies every index by a stride that is passed.

## Example
```python
import torch
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, out_ptr, sx_h, sx_t, sx_d, so_h, so_t, so_d, factor, BT: tl.constexpr, D: tl.constexpr):
    h = tl.program_id(1)
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    d = tl.arange(0, D)
    x = tl.load(x_ptr + h * sx_h + t[:, None] * sx_t + d[None, :] * sx_d)
    tl.store(out_ptr + h * so_h + t[:, None] * so_t + d[None, :] * so_d, x * factor)


def launch(x):
    n_tokens, n_heads, dim = x.shape
    x = x.transpose(0, 1).contiguous()
    out = torch.empty_like(x)
    scale[(n_tokens // 64, n_heads)](x, out, *x.stride(), *out.stride(), 2.0, D=128, BT=64)
```

## Use instead
```python
import torch
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, out_ptr, sx_h, sx_t, sx_d, so_h, so_t, so_d, factor, BT: tl.constexpr, D: tl.constexpr):
    h = tl.program_id(1)
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    d = tl.arange(0, D)
    x = tl.load(x_ptr + h * sx_h + t[:, None] * sx_t + d[None, :] * sx_d)
    tl.store(out_ptr + h * so_h + t[:, None] * so_t + d[None, :] * so_d, x * factor)


def launch(x):
    n_tokens, n_heads, dim = x.shape
    x = x.transpose(0, 1)
    out = torch.empty_like(x)
    scale[(n_tokens // 64, n_heads)](x, out, *x.stride(), *out.stride(), 2.0, D=128, BT=64)
```

## How to fix
Pass the view and its strides. Keep the copy where a kernel in between needs it, or where the same data is
read so often that rows in another order cost more than the copy.

## Evidence
None measured here. A copy moves twice the bytes of the tensor; a kernel that reads the tensor once moves them
once.
"""

from collections.abc import Iterable
from dataclasses import replace

from coalesce_lint.access import Kernel, Place
from coalesce_lint.findings import Finding, Rule
from coalesce_lint.launches.pitches import Addressed, addressed_tensors, understood
from coalesce_lint.launches.records import Launch
from coalesce_lint.launches.verdict import under


class AvoidableCopy(Rule):
    code = "CL204"
    name = "avoidable-copy"
    summary = "a .contiguous() copy before a kernel that could read the view itself"

    def check_kernel(self, kernel: Kernel) -> Iterable[Finding]:
        for launch in kernel.launches:
            for given in addressed_tensors(kernel, launch):
                if given.tensor.copy is not None and _reads_any_layout(given, launch):
                    yield self._finding(kernel, launch, given)

    def _finding(self, kernel: Kernel, launch: Launch, given: Addressed) -> Finding:
        copy = given.tensor.copy
        assert copy is not None
        message = (
            f"{given.tensor.name} copies {copy.text} ({copy.disorder}) for {kernel.name}, which takes all "
            f"strides of {given.parameter} and reads the view as well; pass the view"
        )
        access = given.accesses[0]
        return Finding(
            code=self.code,
            name=self.name,
            place=Place(launch.place.path, copy.line, 0, copy.line, 0),
            message=message,
            severity=self.severity,
            confidence="assumed",
            kernel=kernel.name,
            pointer=given.parameter,
            related=[(launch.place, "launched here"), (access.place, "read here")],
            access=access,
        )


def _reads_any_layout(given: Addressed, launch: Launch) -> bool:
    """Whether every dimension's stride is passed, and every access stays contiguous without the copy."""
    own = {
        name: p
        for name, p in launch.arguments.items()
        if p.kind == "stride" and p.tensor is not None and p.tensor.root == given.tensor.root
    }
    rank = given.tensor.rank
    if rank is None or {(p.dim or 0) % rank for p in own.values()} != set(range(rank)):
        return False
    if any(p.uncopied is None for p in own.values()) or not understood(given.accesses):
        return False
    changed = replace(
        launch,
        arguments={
            **launch.arguments,
            **{n: replace(p, stride=p.uncopied, uncopied=None) for n, p in own.items() if p.uncopied},
        },
    )
    for access in given.accesses:
        # an index that no stride multiplies takes the layout of the copy for granted
        if any(s.kinds and not set(s.parameters) & set(own) for s in access.summands):
            return False
        verdict = under(access, changed)
        if verdict is None or verdict.pattern not in ("contiguous", "uniform"):
            return False
    return True
