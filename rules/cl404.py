"""
A descriptor whose pitch is not proved to be a multiple of 16 bytes.

## What it does
Lists each descriptor made in a kernel with a pitch (a stride other than the last one) that nothing in the
kernel proves to be a multiple of 16 bytes: a bare argument, a row length, an odd expression. Proved are
numbers, products with a factor that is large enough (`64 * n_heads`), sizes that were rounded up
(`tl.cdiv(n, 16) * 16`), multiples of the block's own width (the front end wants at least 16 bytes of it),
and what `tl.multiple_of` and `tl.assume(pitch % 16 == 0)` say. Where the element type is not known,
elements of one byte are taken, so that the factor has to be 16. One finding for each descriptor, at its
first access. The rule is off by default: most pitches are multiples of 16 bytes although nothing says so.

## Why is this bad
A descriptor keeps a pitch in units of 16 bytes. What does not fit into them is dropped without an error,
and all rows but the first are read from, or written to, the wrong place.

## Example
```python
import triton
import triton.language as tl


@triton.jit
def row_sums(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    desc = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [BM, BN])
    row = tl.program_id(0) * BM
    x = desc.load([row, 0])
    tl.store(out_ptr + row + tl.arange(0, BM), tl.sum(x, axis=1))
```

## Use instead
```python
import triton
import triton.language as tl


@triton.jit
def row_sums(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    pitch = tl.cdiv(N, 16) * 16
    desc = tl.make_tensor_descriptor(x_ptr, [M, N], [pitch, 1], [BM, BN])
    row = tl.program_id(0) * BM
    x = desc.load([row, 0])
    tl.store(out_ptr + row + tl.arange(0, BM), tl.sum(x, axis=1))
```

## How to fix
- Allocate rows that are padded to 16 bytes, and say so in the kernel: pass the number of units and multiply
  by 16 there, or round up as above.
- Make the descriptor in the host function (`TensorDescriptor.from_tensor`), which checks base and pitches.
- Where the launch checks the pitch, say so in the kernel: `tl.assume(pitch % 16 == 0)`.

## Evidence
Run on one NVIDIA H200 with Triton 3.6.0, fp32, 256 rows in boxes of 64x64: with a pitch of 1001 or 1002
elements 255 of 256 rows were loaded, and stored, wrong, without an error; with 1024 none.
"""

import ast
import math
import re
from collections.abc import Iterable

from coalesce_lint.access import Access, Box, Kernel
from coalesce_lint.advice import operation
from coalesce_lint.findings import Finding, Rule
from coalesce_lint.index.nodes import Node

UNIT = 16  #: bytes in which descriptors count pitches
LONGEST_PITCH = 40


class UnprovedPitch(Rule):
    code = "CL404"
    name = "unproved-pitch"
    summary = "a descriptor whose pitch is not proved to be a multiple of 16 bytes"
    default = False

    def check_kernel(self, kernel: Kernel) -> Iterable[Finding]:
        told = set()
        for access in kernel.accesses:
            box = access.box
            if box is None or box.host or box.kind != "descriptor" or str(box.made_at) in told:
                continue
            told.add(str(box.made_at))
            open_axes = [k for k in range(len(box.strides) - 1) if not _proved(access, box, k)]
            if open_axes and not re.search(r"\btdm\b", access.source):
                yield self.finding(access, _message(access, box, open_axes))


def _proved(access: Access, box: Box, k: int) -> bool:
    """Whether the pitch of dimension ``k`` is a multiple of 16 bytes, or does not matter."""
    if box.stride_values[k] is not None or box.shape[k : k + 1] == ["1"]:
        return True
    known = {**box.promised, **({box.block[-1]: UNIT} if box.block else {})}
    factor = math.lcm(_factor(box.strides[k], known), _promised(access, k))
    return factor * (access.element_bytes or 1) % UNIT == 0


def _factor(text: str, known: dict[str, int]) -> int:
    """The largest number known to divide an expression; ``known`` holds divisors of parts of it."""
    try:
        return _divisor(ast.parse(text, mode="eval").body, known)
    except (SyntaxError, RecursionError):
        return 1


def _divisor(e: ast.expr, known: dict[str, int]) -> int:
    if ast.unparse(e) in known:
        return known[ast.unparse(e)]
    match e:
        case ast.Constant(value=int(value)):
            return abs(value)
        case ast.BinOp(left, ast.Mult(), right):
            return _divisor(left, known) * _divisor(right, known)
        case ast.BinOp(left, ast.Add() | ast.Sub() | ast.Mod(), right):
            return math.gcd(_divisor(left, known), _divisor(right, known))
        case ast.UnaryOp(operand=inner):
            return _divisor(inner, known)
        case ast.Call(func=ast.Name(id="min" | "max"), args=args):
            return math.gcd(*(_divisor(a, known) for a in args))
        case ast.Call(func=ast.Name(id="where"), args=[_, a, b]):
            return math.gcd(_divisor(a, known), _divisor(b, known))
    return 1


def _promised(access: Access, k: int) -> int:
    """What ``tl.multiple_of`` says of the pitch."""
    source = access.site.options.get("descriptor") if access.site else None
    node = source.strides[k] if source else None
    while isinstance(node, Node) and node.op in ("cast", "hint"):
        if node.op == "hint" and node.attr[0] == "multiple_of":
            value = node.attr[1]
            value = value.attr if isinstance(value, Node) and value.op == "const" else value
            return value if isinstance(value, int) else 1
        node = node.args[0]
    return 1


def _message(access: Access, box: Box, axes: list[int]) -> str:
    steps = [box.strides[k] if len(box.strides[k]) <= LONGEST_PITCH else "an expression" for k in axes]
    named = " and ".join(f"axis {k} by {step}" for k, step in zip(axes, steps, strict=True))
    return (
        f"{operation(access)} of {access.pointer}: its descriptor steps along {named} elements, and nothing "
        f"proves a multiple of {UNIT} bytes; round the pitch up where the tensor is made and in the kernel, "
        f"or make the descriptor in the host function, which checks it"
    )
