"""What the compiler and the hardware make of a kernel's accesses under the launches that are assumed.

Everything is made on demand and kept: most accesses are only asked for what the compiler proves of their
address, which is cheap, and few are counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

from coalesce_lint.access import Access, Cost, Kernel
from coalesce_lint.hardware import tiles
from coalesce_lint.hardware.addresses import addresses
from coalesce_lint.hardware.analysis import Analysis, Unresolved
from coalesce_lint.hardware.axis_info import Info
from coalesce_lint.hardware.counter import Counter
from coalesce_lint.hardware.evaluate import Evaluator
from coalesce_lint.hardware.launch import Launch
from coalesce_lint.hardware.operations import memory_op, memory_ops, operands

if TYPE_CHECKING:
    from coalesce_lint.hardware.layout import MemoryOp
    from coalesce_lint.index.nodes import Node

#: Groups of neighbours looked at in one tile.
MOST_GROUPS = 1024
_FAILURES = (Unresolved, RecursionError, ArithmeticError, LookupError, TypeError, ValueError)


class LaunchModel:
    """One kernel under one launch."""

    def __init__(self, kernel: Kernel, launch: Launch) -> None:
        self.kernel = kernel
        self.launch = launch
        self._index = {id(a): k for k, a in enumerate(kernel.accesses)}
        self._costs: dict[int, Cost | None] = {}
        self._plain: dict[int, MemoryOp | None] = {}
        self._shared: dict[int, tiles.Tile] = {}
        self._varying: dict[int, bool] = {}

    @cached_property
    def analysis(self) -> Analysis:
        return Analysis(self.launch, (n for a in self.kernel.accesses for n in operands(a)))

    @cached_property
    def _operations(self) -> list[MemoryOp | None]:
        try:
            return memory_ops(self.kernel.accesses, self.launch, self.analysis)
        except _FAILURES:
            return [None] * len(self.kernel.accesses)

    def proved(self, access: Access) -> MemoryOp | None:
        """The operation of an access before it is laid out: shape, element bytes, and what the compiler
        proves of its address and mask. None where the launch does not say enough."""
        key = id(access)
        if key not in self._plain:
            try:
                self._plain[key] = memory_op(access, self.analysis)
            except _FAILURES:
                self._plain[key] = None
        return self._plain[key]

    def operation(self, access: Access) -> MemoryOp | None:
        """The laid-out operation of an access; None where the launch does not say enough."""
        index = self._index.get(id(access))
        return None if index is None else self._operations[index]

    def cost(self, access: Access) -> Cost | None:
        """The cost of an access; None where the launch does not say enough."""
        key = id(access)
        if key not in self._costs:
            op = self.operation(access)
            try:
                self._costs[key] = (
                    None if op is None else Counter(op, self.analysis, self._shared, self._varying).cost()
                )
            except _FAILURES:
                # Kernels may mix numbers, None and floats in ways no address does: then there is no cost.
                self._costs[key] = None
        return self._costs[key]

    def info(self, node: Node) -> Info | None:
        """What the compiler proves of a node of an expression; None where it is not known."""
        try:
            return self.analysis.info(node)
        except _FAILURES:
            return None

    def shape(self, node: Node) -> tuple[int, ...] | None:
        """The extents of a node; None where one is not known."""
        try:
            return self.analysis.shape(node)
        except _FAILURES:
            return None

    def runs(self, access: Access, axis: int, length: int) -> float | None:
        """The share of groups of ``length`` neighbours along ``axis``, counted from the tile's edge, that
        are neighbours in memory, upwards or downwards, in one program; None where it is not known."""
        op = self.proved(access)
        if op is None or access.site is None:
            return None
        try:
            evaluator = Evaluator(self.analysis, (1, 0, 0), {}, self._shared, self._varying)
            tile = tiles.total(addresses(evaluator, access.site.address, len(op.shape)).parts, len(op.shape))
        except _FAILURES:
            return None
        if tile.dims[axis] % length:
            return None
        step = prod(tile.dims[axis + 1 :])
        size = len(tile.data)
        starts = [k for k in range(size) if k // step % length == 0][:MOST_GROUPS]
        whole = 0
        for k in starts:
            steps = {tile.data[k + (n + 1) * step] - tile.data[k + n * step] for n in range(length - 1)}
            whole += steps in ({1}, {-1}, set())
        return whole / len(starts) if starts else None


@dataclass
class KernelModel:
    """One kernel under every launch that is assumed for it: one a configuration of its autotuner."""

    kernel: Kernel
    make_launches: Callable[[], list[Launch]]
    _odd: dict[tuple[int, str], LaunchModel] = field(default_factory=dict, init=False)
    min_waste: float = 1.0  #: strided accesses with less traffic than so many times what is needed are kept

    @cached_property
    def launches(self) -> list[LaunchModel]:
        return [LaunchModel(self.kernel, launch) for launch in self.make_launches()]

    def odd(self, model: LaunchModel, name: str) -> LaunchModel:
        """One of the launches with the argument ``name`` not divisible by 16."""
        key = (id(model), name)
        if key not in self._odd:
            value = model.launch.values.get(name)
            values = {name: value + 1} if isinstance(value, int) else {}
            launch = replace(model.launch, values={**model.launch.values, **values})
            self._odd[key] = LaunchModel(self.kernel, launch)
        return self._odd[key]

    def costs(self, access: Access) -> list[Cost]:
        """The costs of an access that are known, one a launch."""
        return [c for m in self.launches if (c := m.cost(access)) is not None]

    def assumed_cost(self, access: Access) -> dict[str, Any] | None:
        """The kindest and the worst cost of an access, over how many launches, and what was assumed; None
        where its cost is pinned or cannot be counted."""
        costs = sorted(self.costs(access), key=badness) if access.cost is None else []
        if not costs:
            return None
        return {
            "best": costs[0].as_dict(),
            "worst": costs[-1].as_dict(),
            "launches": len(costs),
            "assumptions": list(self.launches[0].launch.assumed),
        }

    def best(self, access: Access) -> Cost | None:
        """The kindest cost of an access, by the sectors that a program fetches, then by look-ups."""
        return min(self.costs(access), key=badness, default=None)


def traffic_ratio(cost: Cost) -> float | None:
    """Bytes that a program fetches in one access over the bytes that it asks for, at least 1; None for
    gathers and where nothing was counted."""
    if cost.program_sectors is None or not cost.program_bytes:
        return None
    return max(1.0, 32 * cost.program_sectors / cost.program_bytes)


def lookup_ratio(cost: Cost) -> float | None:
    """Sectors that a program looks up in L1 over those that its bytes fill, at least 1."""
    if cost.program_lookups is None or not cost.program_bytes:
        return None
    return max(1.0, 32 * cost.program_lookups / cost.program_bytes)


def badness(cost: Cost) -> tuple[float, float]:
    return (traffic_ratio(cost) or 1.0, lookup_ratio(cost) or 1.0)
