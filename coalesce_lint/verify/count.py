"""Sectors and requests of one execution of a memory operation, from its layout, its instructions and its
addresses.

The counting rules agree with an H200's counters (``l1tex__t_sectors`` / ``l1tex__t_requests``): a request
is a warp instruction with at least one active lane, its sectors are the distinct 32-byte sectors of the
active lanes; duplicate lanes and warps load but do not store; a scalar load is one request a warp, a scalar
store one a program.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coalesce_lint.hardware.linear_layout import LinearLayout

SECTOR_BYTES = 32


@dataclass
class Emitted:
    """One vector access of a thread: its first register, its elements, and how much of it counts.

    ``weight`` is below 1 where the machine code dropped the instruction in some of its unrolled copies.
    """

    start: int
    elements: int
    weight: float = 1.0


@dataclass
class Counts:
    """Sums over warps of one or more executions. ``bytes`` are distinct bytes asked for, request by
    request."""

    requests: float = 0.0
    sectors: float = 0.0
    bytes: float = 0.0
    program_sectors: float = 0.0
    executions: float = 0.0
    max_sectors: float = 0.0

    def add(self, other: Counts, factor: float = 1.0) -> None:
        self.requests += factor * other.requests
        self.sectors += factor * other.sectors
        self.bytes += factor * other.bytes
        self.program_sectors += factor * other.program_sectors
        self.executions += factor * other.executions
        self.max_sectors = max(self.max_sectors, other.max_sectors)


@dataclass
class Plan:
    """Everything about a compiled operation that counting needs; element numbers are made once."""

    kind: str
    element_bytes: int
    num_warps: int
    layout: LinearLayout | None
    emitted: list[Emitted]
    _cache: dict[str, Any] = field(default_factory=dict)

    def numbers(self) -> tuple[np.ndarray, np.ndarray]:
        """Element numbers [warp, instruction, lane] of each access's first element, and who is active
        [warp, 1, lane]."""
        if "numbers" not in self._cache:
            assert self.layout is not None
            registers = self.layout.register_numbers
            first = np.array([registers[e.start] for e in self.emitted], dtype=np.int64)
            warp = np.array(self.layout.warp_numbers)[:, None, None]
            lane = np.array(self.layout.lane_numbers)[None, None, :]
            active = np.ones((warp.size, 1, lane.size), dtype=bool)
            if self.kind != "load":
                active &= np.array(self.layout.owners("lane"))[None, None, :]
                active &= np.array(self.layout.owners("warp"))[:, None, None]
            self._cache["numbers"] = (warp ^ first[None, :, None] ^ lane, active)
        return self._cache["numbers"]


def distinct(values: np.ndarray, active: np.ndarray) -> np.ndarray:
    """How many distinct active values stand along the last axis."""
    blank = np.int64(-1)
    ordered = np.sort(np.where(active, values, blank), axis=-1)
    first = (ordered[..., :1] != blank).sum(axis=-1)
    return first + ((ordered[..., 1:] != ordered[..., :-1]) & (ordered[..., 1:] != blank)).sum(axis=-1)


def count(plan: Plan, addresses: np.ndarray, mask: np.ndarray | None) -> Counts:
    """Counts of one execution. ``addresses`` are byte addresses of the tile's elements, row-major; ``mask``
    likewise."""
    weights = np.array([e.weight for e in plan.emitted])
    flat = addresses.reshape(-1).astype(np.int64)
    allowed = None if mask is None else np.broadcast_to(mask, addresses.shape).reshape(-1)
    if plan.layout is None:
        if not plan.emitted or (allowed is not None and not allowed.all()):
            return Counts(executions=1)
        requests = (plan.num_warps if plan.kind == "load" else 1) * float(weights.sum())
        return Counts(requests, requests, requests * plan.element_bytes, 1, 1, 1)
    if not plan.emitted:
        return Counts(executions=1)
    numbers, owners = plan.numbers()
    first = flat[numbers]
    active = np.broadcast_to(owners, first.shape)
    if allowed is not None:
        active = active & allowed[numbers]
    width = np.array([e.elements for e in plan.emitted]) * plan.element_bytes
    steps = int(width.max())
    # A vector reaches from its first element's address over its width, whatever the other elements'
    # addresses were.
    offsets = np.arange(0, steps, plan.element_bytes)
    touched = (first[..., None] + offsets).reshape(*first.shape[:2], -1)
    live = (active[..., None] & (offsets < width[None, :, None, None])).reshape(touched.shape)
    sectors = distinct(touched // SECTOR_BYTES, live)
    asked = distinct(touched, live) * plan.element_bytes
    requested = active.any(axis=-1)
    return Counts(
        requests=float((requested * weights).sum()),
        sectors=float((sectors * weights).sum()),
        bytes=float((asked * weights).sum()),
        program_sectors=float(np.unique(touched[live] // SECTOR_BYTES).size),
        executions=1,
        max_sectors=float(sectors.max(initial=0)),
    )
