"""Interleaved siblings: loads that each take every n-th element and together take all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from coalesce_lint.access import Access, Kernel, Part

#: Steps of more elements than a sector holds share no sectors between siblings.
WIDEST = 8


def interleaved_groups(kernel: Kernel) -> Iterator[list[Access]]:
    """Groups of strided loads whose offsets differ by a number only and that fill each other's gaps.

    Each access of a group lies in a window of ``stride`` neighbouring start elements that all have a load in
    the group: ``x[2*i]`` and ``x[2*i + 1]``. Elements may be those of a view with a stride of its own:
    ``x[2*i * stride]`` and ``x[(2*i + 1) * stride]``.
    """
    families: dict[tuple[object, ...], list[tuple[Access, Part]]] = defaultdict(list)
    for access in kernel.accesses:
        part = parts_of(access)
        if access.op == "load" and part is not None:
            key = access.pointer, part.family, access.lane_axis, part.step, part.unit
            families[key].append((access, part))
    for family in families.values():
        starts, step = {p.start for _, p in family}, family[0][1].step
        group = [a for a, p in family if _window_full(p.start, starts, step)]
        if len(group) > 1:
            yield sorted(group, key=lambda a: (a.place.line, a.place.column))


def interleaved(kernel: Kernel) -> set[int]:
    """``id`` of every access that is in a group."""
    return {id(a) for group in interleaved_groups(kernel) for a in group}


def parts_of(access: Access) -> Part | None:
    """The step of an access that takes every n-th element, with n no wider than a sector; else None."""
    part = access.part
    return part if part is not None and access.pattern == "strided" and 2 <= part.step <= WIDEST else None


def _window_full(start: int, starts: set[int], stride: int) -> bool:
    return any(
        all(first + k in starts for k in range(stride)) for first in range(start - stride + 1, start + 1)
    )
