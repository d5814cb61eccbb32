"""
A block pointer, which Triton 3.9 no longer has.

## What it does
Lists every `tl.make_block_ptr` whose block pointer is loaded or stored: one finding for each, at its first
access. The rule is off by default: the code is right for the versions that it runs on.

## Why is this bad
`tl.make_block_ptr` and `tl.advance` are deprecated in Triton 3.7 and removed in 3.9. A kernel that uses
them does not compile there.

## Example
```python
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    i = start + tl.arange(0, BLOCK)
    block = tl.make_block_ptr(x_ptr, (n,), (1,), (start,), (BLOCK,), (0,))
    x = tl.load(block, boundary_check=(0,))
    tl.store(y_ptr + i, 2 * x, mask=i < n)
```

## Use instead
```python
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, 2 * x, mask=i < n)
```

## How to fix
- Last stride 1, other strides and the base multiples of 16 bytes, a box of at least 16 bytes in the last
  dimension: `desc = tl.make_tensor_descriptor(x_ptr, shape, strides, block_shape)`, then
  `desc.load(offsets)` and `desc.store(offsets, value)`. All edges are checked, and elements outside are 0.
  A loop passes other offsets instead of `tl.advance`.
- Otherwise pointers: `tl.arange` for each dimension, multiplied by its stride, and a mask with one
  comparison for each dimension that was in `boundary_check`.

## Evidence
Triton's own versions: `tl.make_block_ptr` is there in 3.6, deprecated in 3.7 and gone in 3.9. On NVIDIA
devices a block pointer was rewritten into pointers and masks anyway, so that nothing is lost by the second
way.
"""

from collections.abc import Iterable

from coalesce_lint.access import Kernel
from coalesce_lint.advice import operation
from coalesce_lint.findings import Finding, Rule


class BlockPointer(Rule):
    code = "CL405"
    name = "block-pointer"
    summary = "a block pointer, which Triton 3.9 no longer has"
    default = False

    def check_kernel(self, kernel: Kernel) -> Iterable[Finding]:
        told = set()
        for access in kernel.accesses:
            box = access.box
            if box is None or box.kind != "block_ptr" or str(box.made_at) in told:
                continue
            told.add(str(box.made_at))
            axes = ", ".join(f"{extent} along axis {k}" for k, extent in enumerate(box.block))
            where = f" in line {box.made_at.line}" if box.made_at is not None else ""
            yield self.finding(
                access,
                f"{operation(access)} of {access.pointer}: its block pointer ({axes}) is made by "
                f"make_block_ptr{where}, which Triton 3.7 deprecates and 3.9 lacks; "
                f"use tl.make_tensor_descriptor, or pointers with masks",
            )
