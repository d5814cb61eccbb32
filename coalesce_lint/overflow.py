"""Products in an address that are computed in 32 bits and may not fit.

Triton computes with the types of the operands: program ids, ranges, loop counters and integer arguments below
2**31 are i32, and so is the product of two of them, also where the pointer that it is added to has 64 bits
(``binary_op_type_checking_impl`` of Triton's semantics). A cast to int64 of either operand makes it 64 bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coalesce_lint.access import Access
from coalesce_lint.index.nodes import Node

WIDE = frozenset(("i64", "u64", "ptr"))
_THROUGH = frozenset(
    (
        "add",
        "sub",
        "mul",
        "neg",
        "cast",
        "expand",
        "broadcast",
        "hint",
        "trans",
        "reshape",
        "where",
        "phi",
        "min",
    )
)
#: What a factor can be made of.
_INDEX = {"pid": "program id", "load": "loaded", "loopvar": "loop", "iter": "loop"}


@dataclass(frozen=True)
class Product:
    """``index`` times ``factor`` in 32 bits. ``kind`` is what the index is made of: "loaded" or "program id".

    ``runtime`` is the parameter that the factor is, None for a number, a constexpr or a product of several;
    ``pointer`` the parameter that a loaded index is read through. ``program_axis`` is the axis of a program
    id that is the whole index, None where the index has more to it; ``scaled`` whether the product is
    multiplied further.
    """

    kind: str
    index: str
    factor: str
    runtime: str | None
    pointer: str | None = None
    program_axis: int | None = None
    scaled: bool = False


def products(access: Access) -> Iterator[Product]:
    """The products in the address of ``access`` that may pass 2**31, each once."""
    if access.site is None:
        return
    seen: set[tuple[str, str]] = set()
    if "descriptor" in access.site.options:
        return  # the hardware places its tiles
    # strides and shapes of a block pointer have 64 bits, and so has what is made of them: its base counts
    block = access.site.options.get("block_ptr")
    root = getattr(block, "base", None) or access.site.address
    extents = {id(_bare(d)) for d in access.site.address.shape or () if isinstance(d, Node)}
    outside = {id(n) for n in reached(root, through_products=False)}
    for node in reached(root):
        if node.op != "mul" or node.type in WIDE:
            continue
        for index, factor in (node.args, node.args[::-1]):
            if id(_bare(factor)) in extents and _bare(index).op == "pid":
                continue  # pid * BLOCK is an index, as long as its dimension is below 2**31
            found = _product(index, factor, id(node) not in outside)
            if found is not None and (found.index, found.factor) not in seen:
                seen.add((found.index, found.factor))
                yield found


def factors(access: Access) -> frozenset[str]:
    """The runtime parameters that something is multiplied by in the address, in 32 bits or 64."""
    if access.site is None:
        return frozenset()
    block = access.site.options.get("block_ptr")
    muls = [n for n in reached(getattr(block, "base", None) or access.site.address) if n.op == "mul"]
    bare = [_bare(a) for n in muls for a in n.args]
    return frozenset(str(b.attr.name) for b in bare if b.op == "param" and not b.attr.constexpr)


def reached(root: Node, through_products: bool = True) -> Iterator[Node]:
    """The nodes of an address, not those behind loads: what was loaded does not come out of a product.

    ``through_products`` is False to leave out the operands of products with parameters.
    """
    seen: set[int] = set()
    todo: list[object] = [root]
    while todo:
        node = todo.pop()
        if not isinstance(node, Node) or id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        if node.op == "mul" and not through_products and any(map(_is_factor, node.args)):
            continue
        if node.op in _THROUGH:
            todo += node.args[1:] if node.op in ("where", "phi") else node.args
        elif node.op == "carried":
            todo += [*node.args, getattr(node.attr, "out", None)]


def _product(index: Node, factor: Node, scaled: bool) -> Product | None:
    """The product where ``index`` counts rows or pages and ``factor`` can be a large step."""
    if _narrowed(index) or not _is_factor(factor):
        return None
    kinds = _kinds(index)
    if "loaded" in kinds:
        kind = "loaded"
    elif "program id" in kinds:
        kind = "program id"
    else:
        return None
    base = _bare(factor)
    runtime = base.attr.name if base.op == "param" and not base.attr.constexpr else None
    bare = _bare(index)
    return Product(
        kind,
        _text(index, kind),
        _text(factor, ""),
        runtime,
        kinds.get("loaded"),
        bare.attr if bare.op == "pid" else None,
        scaled,
    )


def _bare(node: Node) -> Node:
    while node.op in ("cast", "expand", "broadcast", "hint"):
        node = node.args[0]
    return node


def _narrowed(node: Node) -> bool:
    """Whether the value is small for sure: a remainder, or a comparison."""
    return _bare(node).op in ("mod", "cmp", "const")


def _is_factor(node: Node) -> bool:
    """A parameter, or a product of parameters and numbers, that is more than a few."""
    node = _bare(node)
    if node.op == "param":
        return True
    return node.op == "mul" and all(_is_factor(a) or _bare(a).op == "const" for a in node.args)


def _kinds(node: Node) -> dict[str, str]:
    """What an index is made of; for "loaded" the pointer that it is read through."""
    out: dict[str, str] = {}
    seen: set[int] = set()
    todo = [node]
    while todo:
        n = todo.pop()
        if id(n) in seen:
            continue
        seen.add(id(n))
        if n.op in _INDEX:
            out.setdefault(_INDEX[n.op], pointer_of(n) if n.op == "load" else "")
        elif n.op in ("mod", "cmp", "div"):
            continue  # a remainder is small; a quotient of a program id is a batch or a head
        elif n.op == "min":
            for kind, pointer in _least(n).items():
                out.setdefault(kind, pointer)
        elif n.op in _THROUGH:
            todo += n.args[1:] if n.op in ("where", "phi") else n.args
    return out


def _least(node: Node) -> dict[str, str]:
    """What the smaller of two is made of: an index that a loaded length bounds is no loaded index."""
    indices = (a for a in node.args if any(n.op in _INDEX or n.op == "arange" for n in reached(a)))
    sides = [_kinds(a) for a in indices]
    loaded = [k for k in sides if "loaded" in k]
    bounded = loaded and len(loaded) < len(sides)
    return {kind: p for k in sides for kind, p in k.items() if kind != "loaded" or not bounded}


def pointer_of(load: Node) -> str:
    """The name of the parameter that a value is loaded through."""
    todo, seen = [load.args[0]], 0
    while todo and seen < 200:
        node = todo.pop()
        seen += 1
        if node.op == "param":
            return str(node.attr.name)
        if node.op in _THROUGH or node.op == "carried":
            todo += reversed(node.args[:2])
    return ""


def _text(node: Node, kind: str) -> str:
    node = _bare(node)
    if node.op == "param":
        return str(node.attr.name)
    if node.op == "const":
        return str(node.attr)
    if kind == "loaded":
        name = _kinds(node).get("loaded")
        return f"a value loaded from {name}" if name else "a loaded value"
    if kind:
        axes = sorted({n.attr for n in reached(node) if n.op == "pid" and n.attr is not None})
        return f"an index made of tl.program_id({axes[0]})" if axes else "an index made of a program id"
    return "*".join(_text(a, "") for a in node.args) if node.op == "mul" else "a step"
