"""
A block pointer whose order says something else than its strides.

## What it does
Reports a `tl.make_block_ptr` whose `order` names another dimension as the fastest one than the strides do.
`order` lists the dimensions from the fastest to the slowest, so the dimension with stride 1 belongs first:
`order=(1, 0)` for a row-major matrix, `(0, 1)` for a column-major one. Reported only where one dimension
has the constant stride 1 and the dimension that `order` puts first has another stride; dimensions with one
element are left out. Strides that are passed as arguments say nothing, and nothing is said of them. One
finding for each block pointer, at its first access.

## Why is this bad
It is no loss of speed on NVIDIA devices: block pointers become plain pointers there, the strides decide
where the lanes go, and `order` is only checked for being a permutation. What is bad is that the kernel says
two things of one tensor. Readers, and other back ends, may believe the wrong one.

## Example
```python
import triton
import triton.language as tl


@triton.jit
def row_sums(x_ptr, out_ptr, M: tl.constexpr, D: tl.constexpr):
    rows = tl.make_block_ptr(x_ptr, (M, D), (D, 1), (0, 0), (M, D), (0, 1))
    x = tl.load(rows)
    tl.store(out_ptr + tl.arange(0, M), tl.sum(x, axis=1))
```

## Use instead
```python
import triton
import triton.language as tl


@triton.jit
def row_sums(x_ptr, out_ptr, M: tl.constexpr, D: tl.constexpr):
    rows = tl.make_block_ptr(x_ptr, (M, D), (D, 1), (0, 0), (M, D), (1, 0))
    x = tl.load(rows)  # noqa: CL405
    tl.store(out_ptr + tl.arange(0, M), tl.sum(x, axis=1))
```

## How to fix
Write the order that the strides have; the message gives it. If it is the strides that are wrong (the tensor
really is column-major), correct them: they decide what is read. Block pointers are gone in Triton 3.9
(CL405), and what takes their place has no `order`.

## Evidence
Compiled for sm_90 with Triton 3.6.0: the kernels of the two examples above, which differ in `order` alone,
give the same PTX. Launches of block pointers measured on one NVIDIA H200, by rows and by columns, have the
sectors that their strides predict.
"""

from collections.abc import Iterable

from coalesce_lint.access import Access, Box, Kernel
from coalesce_lint.advice import operation
from coalesce_lint.findings import Finding, Rule


class OrderAgainstStrides(Rule):
    code = "CL401"
    name = "order-against-strides"
    summary = "a block pointer whose order says something else than its strides"
    severity = "info"

    def check_kernel(self, kernel: Kernel) -> Iterable[Finding]:
        told = set()
        for access in kernel.accesses:
            box = access.box
            if box is None or box.order is None or str(box.made_at) in told:
                continue
            told.add(str(box.made_at))
            wrong = _wrong_first(box)
            if wrong is not None:
                yield self.finding(access, _message(access, box, *wrong))


def _wrong_first(box: Box) -> tuple[int, int] | None:
    """The dimension that ``order`` puts first and the one that the strides do, where they differ."""
    order = box.order or []
    ranks = {len(box.strides), len(box.shape), len(box.block)}
    if ranks != {len(order)} or set(order) != set(range(len(order))):
        return None
    long = [k for k in order if box.block_values[k] != 1 and box.shape[k] != "1"]
    unit = [k for k in long if box.stride_values[k] == 1]
    if not unit or box.stride_values[long[0]] == 1:
        return None
    return long[0], unit[0]


def _message(access: Access, box: Box, first: int, unit: int) -> str:
    order = box.order or []
    backwards = list(range(len(order) - 1, -1, -1))
    right = backwards if unit == backwards[0] else [unit, *(k for k in order if k != unit)]
    return (
        f"{operation(access)} of {access.pointer}: order={_tuple(order)} of its block pointer puts axis "
        f"{first} first, which steps by {box.strides[first]} elements, while axis {unit} has stride 1; on "
        f"NVIDIA the strides decide, so nothing is slower: write order={_tuple(right)} or correct the strides"
    )


def _tuple(numbers: list[int]) -> str:
    return f"({', '.join(map(str, numbers))})"
