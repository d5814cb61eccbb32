"""
A weight or a cache that is copied into another layout on every call.

## What it does
Reports `.contiguous()` of a transposed, permuted or sliced view of a weight or a cache, on the way to a
kernel launch, in a function that is not about loading: the copy is needed (the kernel assumes its layout,
or would be strided without it) but its result is the same every time. What is a weight or a cache is told
by its name (`weight`, `self.weight`, `w1`, `qweight`, `k_cache`); it must come from outside of the
function. The finding stands at the copy.

## Why is this bad
The layout of a weight is a decision that can be made once, when it is loaded. Made on every call it costs two
passes over the tensor each time, which is more than the kernel itself reads at small batch sizes.

## Example
```python
import torch
import triton
import triton.language as tl


@triton.jit
def row_norms(w_ptr, out_ptr, n_rows, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    w = tl.load(w_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0)
    tl.store(out_ptr + row, tl.sum(w * w, axis=0))


def column_norms(weight):
    columns = weight.t().contiguous()
    out = torch.empty(columns.shape[0], device=weight.device)
    row_norms[(columns.shape[0],)](columns, out, columns.shape[0], columns.shape[1], BLOCK=1024)
    return out
```

## Use instead
```python
import torch
import triton
import triton.language as tl


@triton.jit
def row_norms(w_ptr, out_ptr, n_rows, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    w = tl.load(w_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0)
    tl.store(out_ptr + row, tl.sum(w * w, axis=0))


def load(weight):
    return weight.t().contiguous()  # once


def column_norms(columns):
    out = torch.empty(columns.shape[0], device=columns.device)
    row_norms[(columns.shape[0],)](columns, out, columns.shape[0], columns.shape[1], BLOCK=1024)
    return out
```

## How to fix
Convert at load time and keep the result (a buffer, an attribute), or store the weight in that layout.

## Evidence
None measured here; the copy moves twice the bytes of the weight on every call.
"""

import re
from collections.abc import Iterable

from coalesce_lint.access import Kernel, Place
from coalesce_lint.findings import Finding, Rule
from coalesce_lint.launches.pitches import addressed_tensors

_LASTING = re.compile(
    r"(?i)(^|[._])(w|[qkv]?weights?|q?w[0-9qkvo]?|[kv]{0,2}_?cache|embeddings?)(_[a-z0-9]+)?$"
)
_ONCE = re.compile(
    r"(?i)(^__init__$|load|setup|init|prepare|pack|convert|create|build|register|post_|process_weights|from_|"
    r"quantize|test|bench|main|<module>|backward)"
)


class CopyOnEveryCall(Rule):
    code = "CL205"
    name = "copy-on-every-call"
    summary = "a weight or a cache that is copied into another layout on every call"

    def check_kernel(self, kernel: Kernel) -> Iterable[Finding]:
        for launch in kernel.launches:
            if _ONCE.search(launch.function):
                continue
            for given in addressed_tensors(kernel, launch):
                copy = given.tensor.copy
                if copy is None or not copy.given or not _LASTING.search(copy.source):
                    continue
                message = (
                    f"{given.tensor.name} copies {copy.text} ({copy.disorder}) for {kernel.name} "
                    "on every call "
                    f"of {launch.function}; make {copy.source} contiguous in this order once, "
                    "when it is loaded"
                )
                yield Finding(
                    code=self.code,
                    name=self.name,
                    place=Place(launch.place.path, copy.line, 0, copy.line, 0),
                    message=message,
                    severity=self.severity,
                    confidence="assumed",
                    kernel=kernel.name,
                    pointer=given.parameter,
                    related=[(launch.place, "launched here")],
                    access=given.accesses[0],
                )
