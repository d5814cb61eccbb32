"""
A block pointer's tile may cross an edge that `boundary_check` does not name.

## What it does
Reports a load or store through a block pointer where the size of a dimension is not proved to be a multiple
of the block, `boundary_check` does not name the dimension, and the kernel itself shows that tiles cross the
edge there. That is so where

- `padding_option` is given without `boundary_check`: there is nothing to pad;
- size and block are numbers and do not divide;
- the size is cut to what is left for this tile (`tl.minimum(BLOCK, n - start)`), which only a check can see;
- `boundary_check` names nothing but dimensions that no tile can cross: most likely the wrong ones;
- another access checks the same size in blocks of the same extent, or a mask compares the lanes of such a
  block with the same size;
- `boundary_check` names another dimension, and a loop walks along this one.

A kernel that checks nothing at all is left alone: whoever launches it may divide its sizes, and the kernel
does not show it. So is a dimension that another access by the same operation on the same pointer checks
(two branches, one of them for sizes that divide), a size and a block that are both `tl.constexpr` (the
launch picks one for the other), and a dimension whose block starts at 0 and never moves.

## Why is this bad
`shape` is a promise that only `boundary_check` makes the compiler keep. Without it, an element outside has
an address like any other. A load reads what lies there: the next row, another tensor, or a page that
faults. A store overwrites the next row, or memory behind the tensor, and nothing fails.

## Example
```python
import triton
import triton.language as tl


@triton.jit
def add_one(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    source = tl.make_block_ptr(x_ptr, (n,), (1,), (start,), (BLOCK,), (0,))
    target = tl.make_block_ptr(y_ptr, (n,), (1,), (start,), (BLOCK,), (0,))
    x = tl.load(source, boundary_check=(0,))
    tl.store(target, x + 1)
```

## Use instead
```python
import triton
import triton.language as tl


@triton.jit
def add_one(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    source = tl.make_block_ptr(x_ptr, (n,), (1,), (start,), (BLOCK,), (0,))
    target = tl.make_block_ptr(y_ptr, (n,), (1,), (start,), (BLOCK,), (0,))
    x = tl.load(source, boundary_check=(0,))  # noqa: CL405
    tl.store(target, x + 1, boundary_check=(0,))  # noqa: CL405
```

## How to fix
- Name the dimension in `boundary_check`. For a load whose other elements are used, say what they are with
  `padding_option="zero"`; without it their values are undefined.
- Where every launch divides the size by the block: write that down where the kernel is launched
  (`assert n % BLOCK == 0`), and silence the line with `# noqa: CL402`.
- A descriptor (`tl.make_tensor_descriptor`) checks all its edges by itself.

## Evidence
Measured on one NVIDIA H200, Triton 3.6.0: an unchecked store of 64x64 blocks to a 256x100 fp32 matrix (the
second column of blocks reaches 28 elements too far) left the values of another block at the start of 221
rows of 256, and wrote 28 elements behind the tensor, without an error. With 128 columns nothing is wrong.
"""

from collections.abc import Iterable, Iterator

from coalesce_lint.access import Access, Box, Kernel, Place
from coalesce_lint.advice import operation
from coalesce_lint.findings import Finding, Rule
from coalesce_lint.index.nodes import Node

LONGEST_SIZE = 40


class UncheckedEdge(Rule):
    code = "CL402"
    name = "unchecked-edge"
    summary = "a block pointer's tile may cross an edge that boundary_check does not name"

    def check_kernel(self, kernel: Kernel) -> Iterable[Finding]:
        for access in kernel.accesses:
            found = [(k, e) for k in _unchecked(access) if (e := _evidence(access, k, kernel))]
            if found:
                why, other = found[0][1]
                related = [(c.place, f"called from {c.function}") for c in access.call_chain]
                if other is not None:
                    related.append((other, "the same size is checked here"))
                message = _message(access, [k for k, _ in found], why)
                yield self.finding(access, message, confidence="assumed", related=related)


def _checked(access: Access) -> list[int] | None:
    """The dimensions in ``boundary_check``, None where they are not known."""
    box = access.box
    if box is None or box.kind != "block_ptr":
        return None
    if box.boundary_check is None:
        return None if "boundary_check" in access.source else []
    return None if None in box.boundary_check else box.boundary_check


def _unchecked(access: Access) -> list[int]:
    """The dimensions with an edge that a tile may cross and that are not checked."""
    box, checked = access.box, _checked(access)
    if box is None or checked is None:
        return []
    return [k for k, fits in enumerate(box.fits) if not fits and k not in checked and not _divided(box, k)]


def _divided(box: Box, k: int) -> bool:
    """Whether the block is one element, or divides what ``tl.assume(n % 256 == 0)`` says of the size."""
    block = box.block_values[k]
    return block is not None and box.promised.get(box.shape[k], 1) % block == 0


def _evidence(access: Access, k: int, kernel: Kernel) -> tuple[str, Place | None] | None:
    """What in the kernel shows that tiles cross the edge of dimension ``k``; None where nothing does."""
    box, checked = access.box, _checked(access) or []
    assert box is not None
    if any(_takes_over(other, access, k) for other in kernel.accesses):
        return None
    if isinstance(box.padding, str) and not checked:
        return f'padding_option="{box.padding}" does nothing without boundary_check', None
    size, block, start = (_part(access, name, k) for name in ("shape", "block", "offsets"))
    first = _number(start)
    if box.block_values[k] is not None and box.shape[k].isdecimal():
        crosses = first is None or first + (box.block_values[k] or 0) > int(box.shape[k])
        return (f"{box.block[k]} does not divide {box.shape[k]}", None) if crosses else None
    if _cut(size, block):
        return "the size is cut to what is left for the tile, and only a check can see that", None
    if first is not None or (_fixed(size) and _fixed(block)):
        return None
    if checked and all(box.fits[j] or box.block_values[j] == 1 for j in checked):
        return f"boundary_check={_tuple(checked)} names nothing that a tile can cross", None
    for other in kernel.accesses:
        if (box.shape[k], box.block[k]) in _checked_edges(other):
            where = f"in line {other.place.line}"
            return f"the {operation(other)} of {other.pointer} {where} checks this size", other.place
    if any(_bounds(node, size, block) for node in _reached(*_roots(kernel))):
        return "a mask of the kernel compares such a block with the same size", None
    if checked and any(n.op in ("loopvar", "carried") for n in _reached(start)):
        return f"boundary_check={_tuple(checked)} leaves it out, and a loop walks along it", None
    return None


def _checked_edges(access: Access) -> list[tuple[str, str]]:
    """Size and block of each dimension that ``access`` checks."""
    box = access.box
    return [(box.shape[k], box.block[k]) for k in _checked(access) or []] if box else []


def _takes_over(other: Access, access: Access, k: int) -> bool:
    """Whether ``other`` does the same with a check of dimension ``k``: the branch for uneven sizes."""
    if other.pointer != access.pointer or other.op != access.op:
        return False
    if other.box is None:
        return other.site is not None and other.site.mask is not None
    return k in (_checked(other) or [])


def _message(access: Access, axes: list[int], why: str) -> str:
    box, checked = access.box, _checked(access) or []
    assert box is not None
    if not access.is_write:
        harm = "read past the tensor's edge"
    elif len(box.shape) > 1 and any(box.stride_values[k] == 1 for k in axes):
        harm = "overwrite the next row"
    else:
        harm = "write past the tensor's edge"
    *first, last = map(str, axes)
    named = f"axes {', '.join(first)} and {last}" if first else f"axis {last}"
    sizes = [box.shape[k] if len(box.shape[k]) <= LONGEST_SIZE else "its size" for k in axes]
    blocks = ", ".join(f"blocks of {box.block[k]} over {size}" for k, size in zip(axes, sizes, strict=True))
    pad = "" if access.is_write or box.padding else ' and padding_option="zero"'
    return (
        f"{operation(access)} of {access.pointer} may {harm} along {named} ({blocks}): {why}; "
        f"add boundary_check={_tuple(sorted({*checked, *axes}))}{pad}"
    )


def _tuple(numbers: list[int]) -> str:
    return f"({numbers[0]},)" if len(numbers) == 1 else f"({', '.join(map(str, numbers))})"


# What the expressions behind the access say


def _part(access: Access, name: str, k: int) -> object:
    """An entry of the block pointer's ``shape``, ``block`` or ``offsets`` as the interpreter saw it."""
    source = access.site.options.get("block_ptr") if access.site else None
    entries = getattr(source, name, ())
    return _bare(entries[k]) if k < len(entries) else None


def _bare(value: object) -> object:
    while isinstance(value, Node) and value.op in ("cast", "broadcast", "expand", "hint"):
        value = value.args[0]
    return value


def _number(value: object) -> int | None:
    value = value.attr if isinstance(value, Node) and value.op == "const" else value
    return value if isinstance(value, int) else None


def _same(a: object, b: object) -> bool:
    a, b = _bare(a), _bare(b)
    if isinstance(a, Node) and isinstance(b, Node) and a.op == b.op == "param":
        return a.attr is b.attr
    return a is b or (_number(a) is not None and _number(a) == _number(b))


def _cut(size: object, block: object) -> bool:
    """min(BLOCK, rest) and tl.where(inside, BLOCK, rest)."""
    arms = size.args[-2:] if isinstance(size, Node) and size.op in ("min", "where") else ()
    return any(_same(arm, block) for arm in arms)


def _fixed(value: object) -> bool:
    """Made of numbers and constexpr parameters alone."""
    return all(n.op == "const" or (n.attr.constexpr if n.op == "param" else n.args) for n in _reached(value))


def _bounds(node: Node, size: object, block: object) -> bool:
    """Whether ``node`` compares the lanes of a block of the extent ``block`` with ``size``."""
    if node.op != "cmp" or node.attr not in ("lt", "le", "gt", "ge") or not node.shape:
        return False
    return any(_same(a, size) for a in node.args) and any(_same(d, block) for d in node.shape)


def _roots(kernel: Kernel) -> list[object]:
    return [n for a in kernel.accesses if a.site for n in (a.site.address, a.site.mask, a.site.value)]


def _reached(*values: object) -> Iterator[Node]:
    """The nodes that ``values`` are made of, around loops too, each once."""
    seen: set[int] = set()
    todo = list(values)
    while todo:
        node = todo.pop()
        if isinstance(node, Node) and id(node) not in seen:
            seen.add(id(node))
            yield node
            todo += [*node.args, getattr(node.attr, "out", None)]
