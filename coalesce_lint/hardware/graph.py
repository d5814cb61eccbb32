"""Walks over expression graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from coalesce_lint.index.nodes import Loop, Node


class Unresolved(Exception):
    """The launch does not say enough (an extent or a type is not known)."""


def hint_values(values: Any, number: Callable[[Node], int]) -> tuple[int, ...] | None:
    """The numbers of a hint's second argument: one number, or a tuple of them. None where they are not
    known. ``number`` gives the value of a node that is known at compile time and raises where it is not."""
    items = getattr(values, "items", None)
    found = list(items) if isinstance(items, list) else [values]
    try:
        numbers = [number(x) if isinstance(x, Node) else x for x in found]
    except Unresolved:
        return None
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


def loops_of(node: Node) -> tuple[Loop, ...]:
    """The loop that a node's value belongs to: its variable, its count, or a name that it changes."""
    if node.op in ("loopvar", "iter"):
        return (node.attr,)
    return (node.attr.loop,) if node.op == "carried" else ()
