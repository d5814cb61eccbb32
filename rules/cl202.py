"""
A kernel that assumes a contiguous tensor is given a view that is not.

## What it does
Reports a launch that passes a view whose elements are not in row-major order without gaps (`x.t()`,
`x.transpose(1, 2)`, `x.permute(...)`, `x[:, ::2]`, a slice of columns, `expand`) to a kernel that takes no
stride for it: its offsets are made of indices and sizes alone. The finding stands at the launch, an access of
the kernel is the related location.

Silent where the host code makes the tensor contiguous or asserts that it is, and where the kernel's offsets
hold anything that may be a stride: a parameter of that name, a literal or a product that the launch passes.

## Why is this bad
The kernel gets the address of the view's first element and nothing else. It reads the elements that lie
behind it in memory: other ones than the view has, or the right ones in another order. The result is wrong,
nothing fails.

## Example
```python
import torch
import triton
import triton.language as tl


@triton.jit
def double(x_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n_elements)
    tl.store(out_ptr + i, 2 * x, mask=i < n_elements)


def launch(x):
    even = x[:, ::2]
    out = torch.empty(even.shape, device=x.device)
    double[(triton.cdiv(even.numel(), 1024),)](even, out, even.numel(), BLOCK=1024)
```

## Use instead
```python
import torch
import triton
import triton.language as tl


@triton.jit
def double(x_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n_elements)
    tl.store(out_ptr + i, 2 * x, mask=i < n_elements)


def launch(x):
    even = x[:, ::2].contiguous()
    out = torch.empty(even.shape, device=x.device)
    double[(triton.cdiv(even.numel(), 1024),)](even, out, even.numel(), BLOCK=1024)
```

## How to fix
- Pass the strides and use them in the kernel, where the view is made on every call.
- `.contiguous()` before the launch, where a copy is cheap; `assert x.is_contiguous()` where callers can
  provide it.

## Evidence
This is about wrong results; there is nothing to measure. Public bug reports of this kind: a gated
activation with one-dimensional indices that was given a sliced projection, and a cap on logits that was
given padded rows.
"""

from collections.abc import Iterable

from coalesce_lint.access import Kernel
from coalesce_lint.advice import operation
from coalesce_lint.findings import Finding, Rule
from coalesce_lint.launches.pitches import Addressed, addressed_tensors, takes_stride, understood
from coalesce_lint.launches.records import Launch


class ViewForContiguous(Rule):
    code = "CL202"
    name = "view-for-contiguous"
    summary = "a kernel that assumes a contiguous tensor is given a view that is not"
    severity = "error"

    def check_kernel(self, kernel: Kernel) -> Iterable[Finding]:
        for launch in kernel.launches:
            for given in addressed_tensors(kernel, launch):
                if given.tensor.disorder and _assumes_rows(given, launch):
                    yield self._finding(kernel, launch, given)

    def _finding(self, kernel: Kernel, launch: Launch, given: Addressed) -> Finding:
        tensor, access = given.tensor, given.accesses[0]
        made = f" in line {tensor.made_in}" if tensor.made_in and tensor.made_in != launch.place.line else ""
        text = given.passed.text
        what = f"{text} ({tensor.disorder}{made})" if text != tensor.name else f"{text} ({tensor.disorder})"
        message = (
            f"{what} is passed to {kernel.name} for {given.parameter}, which takes no stride for it and "
            f"reads other elements than those of the view; pass strides or make it contiguous first"
        )
        where = f"{operation(access)} of {access.pointer} that assumes a contiguous tensor"
        return Finding(
            code=self.code,
            name=self.name,
            place=launch.place,
            message=message,
            severity=self.severity,
            confidence=tensor.basis or "assumed",
            kernel=kernel.name,
            pointer=given.parameter,
            related=[(access.place, where)],
            access=access,
        )


def _assumes_rows(given: Addressed, launch: Launch) -> bool:
    """Whether more than one element is addressed and nothing in the offsets can be a stride."""
    indexed = any(s.kinds for a in given.accesses for s in a.summands)
    if not indexed or not understood(given.accesses) or takes_stride(given.accesses, launch):
        return False
    # the storage of a transposed tensor may be what is meant; not where the kernel walks the view's own rows
    return given.tensor.disorder not in ("transposed", "permuted") or _walks_view(given, launch)


def _walks_view(given: Addressed, launch: Launch) -> bool:
    """Whether a row pitch is a size of the view itself."""
    for access in given.accesses:
        for summand in access.summands:
            for name in summand.parameters if summand.kinds else ():
                size = launch.arguments.get(name)
                if size is not None and size.tensor is not None and size.tensor.root == given.tensor.root:
                    return True
    return False
