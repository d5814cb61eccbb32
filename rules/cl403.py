"""
A tensor descriptor that the compiler refuses, or that reads or writes the wrong memory.

## What it does
Reports a descriptor made in the kernel (`tl.make_tensor_descriptor` and its Gluon relative for NVIDIA) that

- has a last stride other than the constant 1. A number, an expression and a cast never compile (error). A
  bare stride argument compiles only where the launch passes 1 and Triton specializes the argument to that
  constant (warning); a last stride that is `tl.constexpr`, and code under `if stride == 1:`, are left alone;
- has a constant pitch in another dimension that is not a multiple of 16 bytes (error). Where the element
  type is not known, only pitches that are wrong for every type of up to 8 bytes are reported: odd ones;
- has a box of fewer than 16 bytes in the last dimension (error), with unknown element types a box of one
  element.

One finding for each descriptor and defect, at the descriptor's first access. Descriptors of AMD's tensor
data mover (`tdm`) have other rules and are left out.

## Why is this bad
The front end refuses the first and the last of these. For a stride that is not the constant 1 it says
"Did you forget to add @triton.jit", which names neither the descriptor nor the stride. A pitch that is not
a multiple of 16 bytes compiles and runs: the hardware keeps a pitch in units of 16 bytes and drops the
rest, so that all rows but the first are read from, or written to, the wrong place.

## Example
```python
import triton
import triton.language as tl


@triton.jit
def row_sums(x_ptr, out_ptr, M, stride_m, stride_n, BM: tl.constexpr, BN: tl.constexpr):
    desc = tl.make_tensor_descriptor(x_ptr, [M, BN], [stride_m, stride_n], [BM, BN])
    row = tl.program_id(0) * BM
    x = desc.load([row, 0])
    tl.store(out_ptr + row + tl.arange(0, BM), tl.sum(x, axis=1))
```

## Use instead
```python
import triton
import triton.language as tl


@triton.jit
def row_sums(x_ptr, out_ptr, M, BM: tl.constexpr, BN: tl.constexpr):
    desc = tl.make_tensor_descriptor(x_ptr, [M, BN], [BN, 1], [BM, BN])
    row = tl.program_id(0) * BM
    x = desc.load([row, 0])
    tl.store(out_ptr + row + tl.arange(0, BM), tl.sum(x, axis=1))
```

## How to fix
- Last stride: write the constant 1, and check it where the kernel is launched (`assert x.stride(-1) == 1`).
- A transposed view: describe the tensor as it is stored, with its dense dimension last, and turn the tile
  after the load (`desc.load([col, row]).T`).
- Pitch: allocate rows that are padded to 16 bytes, or use pointers with masks, which have no such rule.
- Box: make the block at least 16 bytes wide in the last dimension.

## Evidence
Run on one NVIDIA H200 with Triton 3.6.0, fp32, 256 rows in boxes of 64x64: with a constant pitch of 1001 or
1002 elements 255 of 256 rows were loaded, and stored, wrong (row 1 was read from element 1000), without an
error; with 1024 none. Compiled for sm_90 with Triton 3.6.0: a runtime last stride is refused with the
message above, the same argument specialized to 1 compiles, and specialized and cast to int64 it is refused;
a box of 1 or 2 fp32 elements is refused, one of 4 compiles.
"""

import re
from collections.abc import Iterable, Iterator

from coalesce_lint.access import Access, Box, Kernel
from coalesce_lint.advice import operation
from coalesce_lint.findings import Finding, Rule
from coalesce_lint.index.nodes import Node
from coalesce_lint.launches.verdict import as_stride

UNIT = 16  #: bytes in which descriptors count pitches; the least width of a box
LARGEST_ELEMENT = 8  #: bytes


class BrokenDescriptor(Rule):
    code = "CL403"
    name = "broken-descriptor"
    summary = "a tensor descriptor that the compiler refuses, or that reads or writes the wrong memory"
    severity = "error"

    def check_kernel(self, kernel: Kernel) -> Iterable[Finding]:
        told = set()
        for access in kernel.accesses:
            box = access.box
            if box is None or box.kind != "descriptor" or re.search(r"\btdm\b", access.source):
                continue
            for defect, kw in _defects(access, box):
                if kw.get("severity") == "warning" and _always_one(kernel, box.strides[-1]):
                    continue
                if (str(box.made_at), defect) not in told:
                    told.add((str(box.made_at), defect))
                    yield self.finding(access, f"{operation(access)} of {access.pointer}: {defect}", **kw)


def _defects(access: Access, box: Box) -> Iterator[tuple[str, dict[str, str]]]:
    """The defects of the descriptor behind ``access``, with what their findings have of their own."""
    last = len(box.strides) - 1
    size = access.element_bytes or LARGEST_ELEMENT
    if last >= 0 and box.stride_values[last] != 1:
        yield from _last_stride(access, box, last)
        return
    for k, pitch in enumerate(box.stride_values[:-1]):
        if pitch is not None and pitch * size % UNIT and box.shape[k : k + 1] != ["1"]:
            types = "" if access.element_bytes else " for any element type"
            verb = "written to" if access.is_write else "read from"
            text = (
                f"axis {k} of its descriptor steps by {pitch} elements, no multiple of {UNIT} bytes{types}: "
            )
            text += (
                f"rows after the first are {verb} the wrong place; pad the pitch, or use pointers with masks"
            )
            yield text, {}
    width = box.block_values[-1] if box.block_values else None
    if width is not None and width * size < UNIT:
        elements = "1 element" if width == 1 else f"{width} elements"
        text = f"the box of its descriptor is {elements} wide along axis {last}, and fewer than {UNIT} bytes "
        yield f"{text}do not compile; make the block wider, or use pointers with masks", {}


def _last_stride(access: Access, box: Box, last: int) -> Iterator[tuple[str, dict[str, str]]]:
    """A last stride that is not the constant 1: refused, or an argument that a launch may make 1."""
    if box.stride_values[last] is not None:
        yield _refused(box, last), {}
        return
    source = access.site.options.get("descriptor") if access.site else None
    stride = source.strides[last] if source else None
    if not isinstance(stride, Node) or _is_one(stride, access):
        return
    if stride.op == "cast" and stride.args[0].op == "param":
        yield _refused(box, last, ", and a cast makes a value even of a 1"), {}
    elif stride.op != "param":
        if stride.op in ("mul", "add", "sub", "div") and not stride.static:
            yield _refused(box, last), {"confidence": "assumed"}
    elif not stride.attr.constexpr and 1 in box.stride_values[:last]:
        yield _refused(box, last), {"confidence": "assumed"}
    elif not stride.attr.constexpr and not stride.attr.specialize:
        yield _refused(box, last, ", and do_not_specialize keeps even a 1 from being one"), {}
    elif not stride.attr.constexpr:
        text = (
            f"the stride of axis {last} of its descriptor is the argument {box.strides[last]}, and only the "
        )
        text += (
            "constant 1 compiles: every launch must pass 1 there; write 1 in its place and check the stride "
        )
        yield f"{text}in the host function", {"severity": "warning", "confidence": "assumed"}


def _refused(box: Box, last: int, why: str = "") -> str:
    way_out = "the dense dimension has to be the last one"
    if 1 in box.stride_values[:last]:
        dense = box.stride_values.index(1)
        way_out = f"describe the tensor with axis {dense} last and turn the tile in the kernel"
    steps = f"axis {last}, the last one of its descriptor, steps by {box.strides[last]} elements"
    return f"{steps}, and only the constant 1 compiles{why}; {way_out}"


def _always_one(kernel: Kernel, argument: str) -> bool:
    """Whether every launch that was found is proved to pass 1 for a stride argument."""
    passed = [as_stride(launch.arguments.get(argument)) for launch in kernel.launches]
    return bool(passed) and all(s.one and s.basis == "proved" for s in passed)


def _is_one(stride: Node, access: Access) -> bool:
    """Whether a branch around the access holds the stride to be 1."""
    for cond, holds in access.site.guards if access.site else ():
        if holds and cond.op == "cmp" and cond.attr == "eq" and stride.op == "param":
            names = [a.attr for a in cond.args if a.op == "param"]
            if stride.attr in names and any(a.op == "const" and a.attr == 1 for a in cond.args):
                return True
    return False
