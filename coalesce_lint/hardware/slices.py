"""Which memory operations of a kernel depend on common values: the compiler lays them out together.

Models ``mlir::getSlice`` as the Coalesce pass uses it: starting at an operation, everything that it is
computed from and everything that is computed from that, over and over. Function arguments do not connect,
program ids and aranges do.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from coalesce_lint.hardware.graph import walk
from coalesce_lint.index.nodes import Node


def connecting_keys(roots: Iterable[Node]) -> set[Hashable]:
    """What ties an operation to others: program ids, aranges (equal ones are one operation), loads, loops."""
    keys: set[Hashable] = set()
    for node in walk(roots):
        if node.op in ("pid", "num_programs"):
            keys.add((node.op, node.attr))
        elif node.op == "arange":
            keys.add(("arange", *(_scalar(a) for a in node.args)))
        elif node.op == "load":
            keys.add(("access", id(node.args[0])))
        elif node.op in ("loopvar", "iter"):
            keys.add(("loop", id(node.attr)))
        elif node.op == "carried":
            keys.add(("loop", id(node.attr.loop)))
    return keys


def _scalar(node: Node) -> Hashable:
    return node.attr if node.op == "const" else id(node)


def group_numbers(roots: Sequence[Sequence[Node]], addresses: Sequence[Node]) -> list[int]:
    """One number an operation; equal for operations of one slice.

    ``roots`` are the nodes that each operation uses (address, mask, value, conditions), ``addresses`` its
    address, by which the values it loads are known.
    """
    leader: dict[Hashable, int] = {}
    parent = list(range(len(roots)))

    def find(k: int) -> int:
        while parent[k] != k:
            parent[k] = parent[parent[k]]
            k = parent[k]
        return k

    for k, (nodes, address) in enumerate(zip(roots, addresses, strict=True)):
        for key in connecting_keys(nodes) | {("access", id(address))}:
            if key in leader:
                parent[find(k)] = find(leader[key])
            else:
                leader[key] = k
    return [find(k) for k in range(len(roots))]
