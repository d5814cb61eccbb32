"""Requests and sectors of one memory operation, counted lane by lane.

The rules of counting are those that agree with an H200's counters: a request is a warp instruction with at
least one active lane; its sectors are the distinct 32-byte sectors of the active lanes; duplicate lanes and
warps load but do not store; a scalar load is one request a warp, a scalar store one a program; a thread's
loads of equal addresses are one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from coalesce_lint.hardware.launch import SECTOR_BYTES
from coalesce_lint.hardware.layout import MemoryOp
from coalesce_lint.hardware.linear_layout import LinearLayout

_SHIFT = SECTOR_BYTES.bit_length() - 1


@dataclass
class Count:
    """Sums over the warps of programs. ``distinct_bytes`` and ``ideal`` are summed request by request,
    ``program_sectors`` and ``program_bytes`` count what is asked for several times once."""

    requests: float = 0.0
    sectors: float = 0.0
    distinct_bytes: float = 0.0
    ideal: float = 0.0
    program_sectors: float = 0.0
    program_bytes: float = 0.0
    programs: float = 0.0
    max_sectors: int = 0

    def add(self, other: Count, weight: float = 1.0) -> None:
        self.requests += weight * other.requests
        self.sectors += weight * other.sectors
        self.distinct_bytes += weight * other.distinct_bytes
        self.ideal += weight * other.ideal
        self.program_sectors += weight * other.program_sectors
        self.program_bytes += weight * other.program_bytes
        self.programs += weight * other.programs
        self.max_sectors = max(self.max_sectors, other.max_sectors)


def request_elements(layout: LinearLayout, vector: int, stores: bool) -> list[list[list[int]]]:
    """For each instruction of a thread and each warp: the number of every lane's first element in the tile.

    Lanes and warps that hold duplicates are left out for stores.
    """
    starts = [layout.register_numbers[r] for r in layout.canonical_registers if r % vector == 0]
    lanes, warps = layout.lane_numbers, layout.warp_numbers
    if stores:
        lanes = [n for n, owner in zip(lanes, layout.owners("lane"), strict=True) if owner]
        warps = [n for n, owner in zip(warps, layout.owners("warp"), strict=True) if owner]
    return [[[start ^ warp ^ lane for lane in lanes] for warp in warps] for start in starts]


def merged(elements: list[list[list[int]]], parts: Sequence[Sequence[Any]]) -> list[list[list[int]]]:
    """The instructions that remain where equal loads of a thread are one.

    The assembler sees that addresses are equal where every term of them is: ``parts`` holds the terms'
    values over the whole tile. That a sum happens to come out the same is not seen.
    """
    seen: set[tuple[Any, ...]] = set()
    kept = []
    for by_warp in elements:
        key = tuple(part[n] for lanes in by_warp for n in lanes for part in parts)
        if key not in seen:
            seen.add(key)
            kept.append(by_warp)
    return kept


def count_tile(
    op: MemoryOp,
    elements: list[list[list[int]]],
    addresses: Sequence[int],
    mask: Sequence[Any] | None,
    vector: int,
) -> Count:
    """Counts of one program. ``addresses`` are bytes, ``mask`` truth values, both row-major over the whole
    tile."""
    width = vector * op.element_bytes
    last = width - 1
    count = Count(programs=1)
    touched: set[int] = set()
    asked_for: set[int] = set()
    for by_warp in elements:
        for lanes in by_warp:
            active = [addresses[n] for n in lanes if mask is None or mask[n]]
            if not active:
                continue
            firsts = set(active)
            sectors = {a >> _SHIFT for a in firsts}
            if last >= op.element_bytes:
                # Hints may promise an alignment that the numbers do not have.
                sectors |= {(a + last) >> _SHIFT for a in firsts}
            count.requests += 1
            count.sectors += len(sectors)
            count.max_sectors = max(count.max_sectors, len(sectors))
            asked = len(firsts) * width
            count.distinct_bytes += asked
            count.ideal += -(-asked // SECTOR_BYTES)
            touched |= sectors
            asked_for |= firsts
    count.program_sectors = len(touched)
    count.program_bytes = len(asked_for) * width
    return count


def count_scalar(op: MemoryOp, num_warps: int, active: bool) -> Count:
    """A scalar access: every warp loads it, one thread of the program stores it."""
    if not active:
        return Count(programs=1)
    requests = num_warps if op.kind == "load" else 1
    size = op.element_bytes
    return Count(requests, requests, requests * size, requests, 1, size, programs=1, max_sectors=1)
