"""
A dimension that tensor cores do not like.

## What it does
Lists launches that pass a matrix with a literal dimension that is no multiple of what tensor cores work
with: 8 for fp16 and bf16, 16 for int8 and fp8. The matrix must be allocated in the host function that
launches, with a 16-bit or 8-bit dtype, and the dimension at least 64. Off by default: many kernels do no
matrix products.

## Why is this bad
Tiles at the edge are padded and masked, rows begin off 16-byte boundaries, and loads lose their vector
width. A vocabulary of 50257 is the usual example; 50264 costs nothing and runs faster.

## Example
```python
import torch
import triton
import triton.language as tl


@triton.jit
def row_sums(w_ptr, out_ptr, stride_m, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    w = tl.load(w_ptr + row * stride_m + cols, mask=cols < n_cols, other=0.0)
    tl.store(out_ptr + row, tl.sum(w, axis=0))


def launch():
    w = torch.zeros(768, 50257, dtype=torch.float16, device="cuda")
    out = torch.empty(768, device="cuda")
    row_sums[(768,)](w, out, w.stride(0), 50257, BLOCK=65536)
```

## Use instead
```python
import torch
import triton
import triton.language as tl


@triton.jit
def row_sums(w_ptr, out_ptr, stride_m, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    w = tl.load(w_ptr + row * stride_m + cols, mask=cols < n_cols, other=0.0)
    tl.store(out_ptr + row, tl.sum(w, axis=0))


def launch():
    w = torch.zeros(768, 50304, dtype=torch.float16, device="cuda")
    out = torch.empty(768, device="cuda")
    row_sums[(768,)](w, out, w.stride(0), 50257, BLOCK=65536)
```

## How to fix
Pad the dimension where the tensor is made, to a multiple of 64 where it is a matter of choice, and pass the
padded stride.

## Evidence
None measured here; the multiples are those of NVIDIA's guides to matrix products and of the tensor core
instructions' shapes.
"""

from collections.abc import Iterable

from coalesce_lint.access import Kernel
from coalesce_lint.findings import Finding, Rule
from coalesce_lint.launches.pitches import addressed_tensors

#: Multiples of elements by element type.
MULTIPLES = {"float16": 8, "half": 8, "bfloat16": 8, "int8": 16, "uint8": 16}
SMALLEST = 64


class UnevenDimension(Rule):
    code = "CL207"
    name = "uneven-dimension"
    summary = "a dimension that tensor cores do not like"
    default = False
    severity = "info"

    def check_kernel(self, kernel: Kernel) -> Iterable[Finding]:
        for launch in kernel.launches:
            for given in addressed_tensors(kernel, launch):
                dtype = given.tensor.dtype
                multiple = 16 if dtype.startswith("float8") else MULTIPLES.get(dtype)
                if multiple is None or len(given.tensor.sizes) < 2:
                    continue
                bad = [n for n in given.tensor.sizes if n is not None and n >= SMALLEST and n % multiple]
                if not bad:
                    continue
                better = -(-bad[0] // multiple) * multiple
                message = (
                    f"{given.passed.text} has a dimension of {bad[0]}, no multiple of {multiple} "
                    "as tensor cores "
                    f"want it for {dtype}; pad it to {better}, or to a multiple of 64"
                )
                yield Finding(
                    code=self.code,
                    name=self.name,
                    place=launch.place,
                    message=message,
                    severity=self.severity,
                    confidence="assumed",
                    kernel=kernel.name,
                    pointer=given.parameter,
                    related=[(given.accesses[0].place, "used here")],
                    access=given.accesses[0],
                )
