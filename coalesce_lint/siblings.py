"""Interleaved siblings: loads that each take every n-th element and together take all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from coalesce_lint.access import Access, Kernel

#: Steps of more elements than a sector holds share no sectors between siblings.
WIDEST = 8


def interleaved_groups(kernel: Kernel) -> Iterator[list[Access]]:
    """Groups of strided loads whose offsets differ by a number only and that fill each other's gaps.

    Each access of a group lies in a window of ``stride`` neighbouring start elements that all have a load in
    the group: ``x[2*i]`` and ``x[2*i + 1]``.
    """
    families: dict[tuple[object, ...], list[Access]] = defaultdict(list)
    for access in kernel.accesses:
        stride = _stride(access)
        if access.pattern == "strided" and access.op == "load" and stride and access.base_id is not None:
            families[access.pointer, access.base_id, access.lane_axis, stride].append(access)
    for family in families.values():
        starts, stride = {a.start for a in family}, _stride(family[0]) or 1
        group = [a for a in family if _window_full(a.start, starts, stride)]
        if len(group) > 1:
            yield sorted(group, key=lambda a: (a.place.line, a.place.column))


def interleaved(kernel: Kernel) -> set[int]:
    """``id`` of every access that is in a group."""
    return {id(a) for group in interleaved_groups(kernel) for a in group}


def _stride(access: Access) -> int | None:
    text = (access.lane_stride or "").removeprefix("-")
    return int(text) if text.isdecimal() and 2 <= int(text) <= WIDEST else None


def _window_full(start: int, starts: set[int], stride: int) -> bool:
    return any(
        all(first + k in starts for k in range(stride)) for first in range(start - stride + 1, start + 1)
    )
