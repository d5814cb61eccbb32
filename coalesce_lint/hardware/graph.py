"""Walks over expression graphs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from coalesce_lint.index.nodes import Node


def hint_values(values: Any) -> tuple[int, ...] | None:
    """The numbers of a hint's second argument: one number, or a tuple of them. None where they are not
    known."""
    items = getattr(values, "items", None)
    found = list(items) if isinstance(items, list) else [values]
    numbers = [x.attr if isinstance(x, Node) and x.op == "const" else x for x in found]
    return tuple(numbers) if numbers and all(isinstance(n, int) for n in numbers) else None


def walk(roots: Iterable[Node]) -> Iterable[Node]:
    """Every node under ``roots`` once, loop bodies included."""
    seen: set[int] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        stack.extend(node.args)
        if node.op == "carried" and node.attr.out is not None:
            stack.append(node.attr.out)
