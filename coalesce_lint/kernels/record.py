"""One access as the interpreter saw it, before any verdict."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from coalesce_lint.access import Call, Place
from coalesce_lint.index.nodes import Loop, Node


@dataclass(eq=False)
class RawSite:
    """``address`` holds the root pointer and the offset in elements; ``guards`` the branch conditions around
    it.
    """

    op: str
    place: Place
    address: Node
    mask: Node | None
    value: Node | None
    guards: tuple[tuple[Node, bool], ...]
    loops: tuple[Loop, ...]
    chain: tuple[Call, ...]
    source: str
    options: dict[str, Any] = field(default_factory=dict)
