"""From a kernel's accesses and a launch to the cost of each access: the stages of this package in order."""

from __future__ import annotations

from collections.abc import Sequence

from coalesce_lint.access import Access, Cost, Kernel
from coalesce_lint.hardware.analysis import Analysis, Unresolved
from coalesce_lint.hardware.counter import Counter
from coalesce_lint.hardware.launch import Launch
from coalesce_lint.hardware.operations import memory_ops, operands
from coalesce_lint.hardware.tiles import Tile


def cost_of_kernel(kernel: Kernel, launch: Launch) -> None:
    """Fills ``access.cost`` of every access of a kernel; it stays None where the launch does not say
    enough."""
    for access, cost in zip(kernel.accesses, costs(kernel.accesses, launch), strict=True):
        access.cost = cost


def costs(accesses: Sequence[Access], launch: Launch) -> list[Cost | None]:
    """The cost of each access of one kernel (None: not known). Accesses must carry their ``site``."""
    analysis = Analysis(launch, (n for a in accesses for n in operands(a)))
    shared: dict[int, Tile] = {}
    varying: dict[int, bool] = {}
    found: list[Cost | None] = []
    for op in memory_ops(accesses, launch, analysis):
        try:
            found.append(None if op is None else Counter(op, analysis, shared, varying).cost())
        except (Unresolved, RecursionError, ArithmeticError, TypeError, ValueError):
            # Kernels may mix numbers, None and floats in ways no address does: then there is no cost.
            found.append(None)
    return found
