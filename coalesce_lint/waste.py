"""What an access costs more than it must, as numbers and in words: for messages and their severity.

Loads are judged by the distinct sectors that a program fetches: what several requests look up again, L1
answers. Stores and atomics do not stay in L1: every sector of every request is written on.
"""

from __future__ import annotations

from dataclasses import dataclass

from coalesce_lint.access import Access, Cost, Kernel
from coalesce_lint.model import lookup_ratio, traffic_ratio

#: Less than this times what is needed is no waste: a run that merely starts within a sector.
WASTE = 1.3
#: A program that asks for less than this wastes nothing that matters.
LEAST_BYTES = 128
#: Bytes that L1 of one multiprocessor surely does not hold (256 KiB on sm_90, shared memory included).
L1_BYTES = 192 * 1024


@dataclass(frozen=True)
class Waste:
    """``traffic``: bytes beyond L1 over those needed; ``lookups``: sectors looked up or written over those
    needed. ``words`` ends no sentence."""

    traffic: float
    lookups: float
    words: str
    cost: Cost

    @property
    def matters(self) -> bool:
        """Whether anything is lost: bytes, or at least look-ups and requests."""
        return max(self.traffic, self.lookups) >= WASTE

    @property
    def severity(self) -> str:
        """By the bytes beyond L1; look-ups alone lose no time as long as L1 keeps up."""
        return "warning" if self.traffic >= WASTE else "info"


def waste_of(access: Access, kernel: Kernel) -> Waste | None:
    """The waste of an access under the kindest of the assumed launches; None where it cannot be counted."""
    cost = kernel.model.best(access) if kernel.model is not None else None
    return None if cost is None else waste(access, cost)


def waste(access: Access, cost: Cost) -> Waste | None:
    """The waste of an access with a known cost; None for gathers."""
    fetched, looked_up = traffic_ratio(cost), lookup_ratio(cost)
    if fetched is None or looked_up is None or cost.sectors_per_request is None:
        return None
    if (cost.program_bytes or 0) < LEAST_BYTES:
        fetched = looked_up = 1.0
    writes = access.is_write or access.is_atomic
    # The next instruction of the same threads fills what this one leaves of a sector (measured: 1.2 times
    # the time for writes in four pieces).
    in_order = cost.lane_stride in ("1", "-1") or cost.limited_by in ("alignment", "mask")
    in_l1 = not writes and 32 * (cost.program_sectors or 0) <= L1_BYTES
    traffic = fetched if in_l1 or in_order else looked_up
    return Waste(traffic, looked_up, _words(cost, traffic, looked_up, writes), cost)


def _words(cost: Cost, traffic: float, looked_up: float, writes: bool) -> str:
    per_request, ideal = cost.sectors_per_request or 0.0, cost.ideal_sectors_per_request
    said = f"{number(per_request)} sectors a request where {number(ideal)} would do"
    if traffic >= WASTE:
        what = "the writes" if writes else "the traffic unless a cache holds it"
        return f"{said}, {number(traffic)}x {what}"
    if looked_up >= WASTE:
        if writes:
            return f"{said}, {number(looked_up)}x the write requests for the same bytes"
        return f"{said}, {number(looked_up)}x the look-ups for the same bytes: L1 holds the tile"
    return said


def number(value: float) -> str:
    """A ratio or a count with no more digits than it deserves."""
    rounded = round(value, 1)
    return f"{rounded:g}"
