"""The memory operations that the compiler makes of a kernel's accesses, laid out."""

from __future__ import annotations

from collections.abc import Sequence

from coalesce_lint.access import Access
from coalesce_lint.hardware import consumers
from coalesce_lint.hardware.analysis import Analysis, Unresolved
from coalesce_lint.hardware.graph import walk
from coalesce_lint.hardware.launch import Launch, Pointer
from coalesce_lint.hardware.layout import MemoryOp, atomic_limit, coalesce
from coalesce_lint.hardware.slices import group_numbers
from coalesce_lint.index.nodes import Node


def memory_ops(
    accesses: Sequence[Access], launch: Launch, analysis: Analysis | None = None
) -> list[MemoryOp | None]:
    """The laid-out memory operation of each access; None for descriptors and where the launch does not say
    enough."""
    roots = [operands(a) for a in accesses]
    analysis = analysis or Analysis(launch, (n for nodes in roots for n in nodes))
    ops = [memory_op(a, analysis) for a in accesses]
    known = [k for k, op in enumerate(ops) if op is not None]
    groups = group_numbers([roots[k] for k in known], [address_of(accesses[k]) for k in known])
    for k, group in zip(known, groups, strict=True):
        op = ops[k]
        assert op is not None
        # A pointer that a loop carries has no defining operation: its slice is not looked for.
        op.group = group if address_of(accesses[k]).op != "carried" else -1 - k
    present = [op for op in ops if op is not None]
    coalesce(launch.profile, present, launch.num_warps)
    consumers.relayout(present, analysis)
    return ops


def address_of(access: Access) -> Node:
    assert access.site is not None
    return access.site.address


def operands(access: Access) -> list[Node]:
    """The nodes that an access is made from."""
    site = access.site
    if site is None:
        return []
    return [
        n
        for n in (site.address, site.predicate, site.value, *(g for g, _ in site.guards))
        if isinstance(n, Node)
    ]


def memory_op(access: Access, analysis: Analysis) -> MemoryOp | None:
    """The operation that the compiler makes of an access; None for descriptors and where types are not
    known."""
    site = access.site
    if site is None or access.op.startswith("descriptor"):
        return None
    kind = "atomic" if access.is_atomic else "store" if access.is_write else "load"
    try:
        size = analysis.pointee(site.address)
        if size is None:
            return None
        shape = analysis.shape(site.address)
        pointer = analysis.info(site.address)
        mask = site.predicate
        if mask is not None and mask.op == "const":
            mask = None
        mask_info = analysis.lifted(mask, shape) if mask is not None else None
        name = element_type(site.address, analysis)
        op = MemoryOp(kind, shape, size, pointer, mask_info, origin=access, element_type=name)
        op.atomic_limit = atomic_limit(access.op, name, analysis.launch.arch)
        return op
    except (Unresolved, RecursionError):
        return None


def root_pointer(address: Node, analysis: Analysis) -> Pointer | None:
    """The pointer argument that an address starts from."""
    for node in walk([address]):
        if node.op == "param" and analysis.pointee(node) is not None:
            return analysis.launch.pointer(node.attr.name)
    return None


def element_type(address: Node, analysis: Analysis) -> str:
    pointer = root_pointer(address, analysis)
    return pointer.type if pointer is not None else ""
