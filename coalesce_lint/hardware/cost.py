"""From a kernel's accesses and a launch to the cost of each access: the stages of this package in order."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from coalesce_lint.access import Access, Cost, Kernel
from coalesce_lint.hardware import consumers, tiles
from coalesce_lint.hardware.analysis import Analysis, Unresolved, walk
from coalesce_lint.hardware.evaluate import Evaluator
from coalesce_lint.hardware.launch import SECTOR_BYTES, Launch
from coalesce_lint.hardware.layout import MemoryOp, coalesce, vector_elements
from coalesce_lint.hardware.programs import Program, program_weights
from coalesce_lint.hardware.reasons import limited_by
from coalesce_lint.hardware.sectors import Count, count_scalar, count_tile, request_elements
from coalesce_lint.hardware.slices import group_numbers
from coalesce_lint.index.nodes import Node

#: Programs looked at in full, elements of tiles looked at in one access over all programs, grid elements
#: counted.
PROGRAMS = 12
ELEMENTS = 400_000
GRID_ELEMENTS = 200_000
#: Programs of a launch whose grid is not given.
SOME_PROGRAMS: tuple[Program, ...] = ((0, 0, 0), (1, 0, 0), (2, 1, 0), (3, 2, 1))
#: Iterations of loops, taken in turn by the programs looked at.
ITERATIONS = (0, 1, 2, 3)


def cost_of_kernel(kernel: Kernel, launch: Launch) -> None:
    """Fills ``access.cost`` of every access of a kernel; it stays None where the launch does not say
    enough."""
    for access, cost in zip(kernel.accesses, costs(kernel.accesses, launch), strict=True):
        access.cost = cost


def costs(accesses: Sequence[Access], launch: Launch) -> list[Cost | None]:
    """The cost of each access of one kernel (None: not known). Accesses must carry their ``site``."""
    roots = [operands(a) for a in accesses]
    analysis = Analysis(launch, (n for nodes in roots for n in nodes))
    ops = [memory_op(a, analysis) for a in accesses]
    known = [k for k, op in enumerate(ops) if op is not None]
    groups = group_numbers([roots[k] for k in known], [address_of(accesses[k]) for k in known])
    for k, group in zip(known, groups, strict=True):
        op = ops[k]
        assert op is not None
        # A pointer that a loop carries has no defining operation: its slice is not looked for.
        op.group = group if address_of(accesses[k]).op != "carried" else -1 - k
    present = [op for op in ops if op is not None]
    coalesce(launch.profile, present, launch.num_warps)
    consumers.relayout(present, analysis)
    shared: dict[int, tiles.Tile] = {}
    varying: dict[int, bool] = {}
    found: list[Cost | None] = []
    for op in ops:
        try:
            found.append(None if op is None else Counter(op, analysis, shared, varying).cost())
        except (Unresolved, RecursionError, OverflowError):
            found.append(None)
    return found


def address_of(access: Access) -> Node:
    assert access.site is not None
    return access.site.address


def operands(access: Access) -> list[Node]:
    """The nodes that an access is made from."""
    site = access.site
    if site is None:
        return []
    return [
        n for n in (site.address, site.mask, site.value, *(g for g, _ in site.guards)) if isinstance(n, Node)
    ]


def memory_op(access: Access, analysis: Analysis) -> MemoryOp | None:
    """The operation that the compiler makes of an access; None for descriptors and where types are not
    known."""
    site = access.site
    if site is None or access.op.startswith("descriptor"):
        return None
    kind = "atomic" if access.is_atomic else "store" if access.is_write else "load"
    try:
        size = analysis.pointee(site.address)
        if size is None:
            return None
        shape = analysis.shape(site.address)
        pointer = analysis.info(site.address)
        mask = site.mask
        if mask is not None and mask.op == "const":
            mask = None
        mask_info = analysis.lifted(mask, shape) if mask is not None else None
        return MemoryOp(kind, shape, size, pointer, mask_info, origin=access)
    except (Unresolved, RecursionError):
        return None


class Counter:
    """Counts one access over representative programs."""

    def __init__(
        self, op: MemoryOp, analysis: Analysis, shared: dict[int, tiles.Tile], varying: dict[int, bool]
    ) -> None:
        self.op = op
        self.access: Access = op.origin
        self.analysis = analysis
        self.launch: Launch = analysis.launch
        self.shared = shared
        self.varying = varying
        self.vector = vector_elements(op)
        self.patterns: dict[Any, Count] = {}
        self.elements = (
            request_elements(op.layout, self.vector, op.kind != "load") if op.layout is not None else []
        )
        self.base = self._base_offset()
        self.loops = {
            id(n.attr if n.op != "carried" else n.attr.loop): n
            for n in walk(operands(self.access))
            if n.op in ("loopvar", "iter", "carried")
        }
        self.data_axes: frozenset[int] | None = None
        self.merges = op.kind == "load" and not any(
            n.op in ("div", "mod") and not self._power_of_two(n.args[1])
            for n in walk([address_of(self.access)])
        )

    def _power_of_two(self, node: Node) -> bool:
        info = self.analysis.info(node)
        return info.value is not None and info.value > 0 and info.value & (info.value - 1) == 0

    def _base_offset(self) -> int:
        """Bytes of the root pointer past a 256-byte boundary."""
        for node in walk([address_of(self.access)]):
            if node.op == "param" and self.analysis.pointee(node) is not None:
                pointer = self.launch.pointer(node.attr.name)
                return pointer.offset if pointer is not None else 0
        return 0

    def programs(self) -> list[tuple[Program, float]]:
        """The programs to look at, fewer for large tiles."""
        limit = max(3, min(PROGRAMS, ELEMENTS // max(self.op.elements, 1)))
        if self.launch.grid is None:
            return [(p, 1.0) for p in SOME_PROGRAMS[:limit]]
        return program_weights(self.launch.grid, limit)

    def cost(self) -> Cost | None:
        total = Count()
        for number, (program, weight) in enumerate(self.programs()):
            evaluator = Evaluator(
                self.analysis, program, self._iterations(program, number), self.shared, self.varying
            )
            if self._reached(evaluator):
                total.add(self._program(evaluator), weight)
        if not total.programs:
            return None
        return self._result(total)

    def _iterations(self, program: Program, number: int) -> dict[int, int]:
        """An iteration of each loop around the access: the first few, taken in turn; never past the loop's
        end."""
        wanted = ITERATIONS[number % len(ITERATIONS)]
        chosen: dict[int, int] = {}
        for key, node in self.loops.items():
            trips = wanted + 1
            if node.op == "loopvar":
                try:
                    evaluator = Evaluator(self.analysis, program, chosen, self.shared, self.varying)
                    start, stop, step = (evaluator.number(a) for a in node.args)
                    trips = len(range(start, stop, step)) if step else 1
                except Unresolved:
                    pass
            chosen[key] = max(0, min(wanted, trips - 1))
        return chosen

    def _reached(self, evaluator: Evaluator) -> bool:
        """False where a branch is known not to lead to the access in this program."""
        assert self.access.site is not None
        for condition, holds in self.access.site.guards:
            try:
                tile = evaluator.value(condition)
            except Unresolved:
                continue
            if len(tile.data) == 1 and not tile.tainted and bool(tile.data[0]) != holds:
                return False
        return True

    # -- one program
    # -----------------------------------------------------------------------------------------------------

    def _program(self, evaluator: Evaluator) -> Count:
        address = self._sum(evaluator, address_of(self.access))
        mask = self._mask(evaluator)
        if self.op.layout is None:
            return count_scalar(self.op, self.launch.num_warps, mask is None or bool(mask.data[0]))
        size = self.op.element_bytes
        first = int(address.data[0]) * size + self.base
        relative = [int(x) * size - first + self.base for x in address.data]
        start = first % SECTOR_BYTES
        key = (start, address.dims, tuple(relative), None if mask is None else (mask.dims, tuple(mask.data)))
        known = self.patterns.get(key)
        if known is None:
            shape = self.op.shape
            flat = tiles.stretched(tiles.Tile(address.dims, relative), shape)
            allowed = None if mask is None else tiles.stretched(tiles.aligned(mask, len(shape)), shape)
            known = count_tile(
                self.op, self.elements, [a + start for a in flat], allowed, self.vector, self.merges
            )
            self.patterns[key] = known
        return known

    def _sum(self, evaluator: Evaluator, node: Node) -> tiles.Tile:
        """The address in elements, summed term by term so that only the last step covers the whole tile."""
        terms: list[Node] = []
        stack = [node]
        while stack:
            here = stack.pop()
            if here.op == "add" and len(self.analysis.shape(here)) == len(self.op.shape):
                stack.extend(here.args)
            elif here.op in ("broadcast", "hint", "cast") and here.op != "cast":
                stack.append(here.args[0])
            else:
                terms.append(here)
        rank = len(self.op.shape)
        by_dims: dict[tuple[int, ...], tiles.Tile] = {}
        for term in terms:
            value = tiles.aligned(evaluator.value(term), rank)
            if value.tainted:
                axes = value.taint_axes or frozenset()
                self.data_axes = axes if self.data_axes is None else self.data_axes | axes
            before = by_dims.get(value.dims)
            by_dims[value.dims] = value if before is None else tiles.apply(int.__add__, before, value)
        total = tiles.Tile((1,) * rank, [0])
        for part in sorted(by_dims.values(), key=lambda t: len(t.data)):
            total = tiles.apply(int.__add__, total, tiles.Tile(part.dims, [int(x) for x in part.data]))
        return total

    def _mask(self, evaluator: Evaluator) -> tiles.Tile | None:
        """The mask's truth values; terms that depend on loaded data count as true."""
        assert self.access.site is not None
        mask = self.access.site.mask
        if mask is None:
            return None
        parts: list[tiles.Tile] = []
        stack = [mask]
        while stack:
            here = stack.pop()
            if here.op == "and":
                stack.extend(here.args)
                continue
            try:
                value = evaluator.value(here)
            except Unresolved:
                continue
            if not value.tainted:
                parts.append(value)
        if not parts:
            return None
        total = parts[0]
        for part in parts[1:]:
            total = tiles.apply(lambda a, b: a and b, total, part)
        return None if all(total.data) else total

    # -- the record
    # ------------------------------------------------------------------------------------------------------

    def _result(self, total: Count) -> Cost:
        op, size = self.op, self.op.element_bytes
        axis = op.layout.lane_axis if op.layout is not None else None
        per_request = total.sectors / total.requests if total.requests else None
        gathers = self.data_axes is not None and axis is not None and axis in self.data_axes
        stride = next((a.stride for a in self.access.axes if a.axis == axis), None)
        efficiency = total.distinct_bytes / (SECTOR_BYTES * total.sectors) if total.sectors else None
        cost = Cost(
            element_bytes=size,
            vector_bytes=self.vector * size,
            lane_axis=axis,
            lane_stride=stride,
            requests_per_warp=total.requests / total.programs / self.launch.num_warps,
            sectors_per_request=None if gathers else per_request,
            ideal_sectors_per_request=total.ideal / total.requests if total.requests else 0.0,
            efficiency=None if gathers else efficiency,
            program_sectors=None if gathers else round(total.program_sectors / total.programs),
            grid_sectors=self._grid_sectors(gathers),
            limited_by=None,
            max_sectors_per_request=float(total.max_sectors) if gathers else None,
        )
        cost.limited_by = limited_by(op, cost, self.vector, gathers, self.unit_axes())
        return cost

    def unit_axes(self) -> set[int]:
        """Axes along which neighbours in the tile are neighbours in memory, in the first program."""
        shape = self.op.shape
        if not shape:
            return set()
        try:
            program = self.programs()[0][0]
            evaluator = Evaluator(
                self.analysis, program, self._iterations(program, 0), self.shared, self.varying
            )
            address = self._sum(evaluator, address_of(self.access))
        except Unresolved:
            return set()
        found = set()
        for axis, extent in enumerate(address.dims):
            step = prod(address.dims[axis + 1 :])
            pairs = [
                address.data[k + step] - address.data[k]
                for k in range(0, min(len(address.data), 64 * step), max(step, 1))
                if k // step % extent < extent - 1 and k + step < len(address.data)
            ]
            if pairs and sum(d == 1 for d in pairs) >= 0.75 * len(pairs):
                found.add(axis)
        return found

    def _grid_sectors(self, gathers: bool) -> int | None:
        """Distinct sectors of the whole grid, where it is given and small enough to be looked at in full."""
        grid = self.launch.grid
        if gathers or grid is None or self.loops or prod(grid) * max(self.op.elements, 1) > GRID_ELEMENTS:
            return None
        touched: set[int] = set()
        size = self.op.element_bytes
        for program, _ in program_weights(grid, prod(grid)):
            evaluator = Evaluator(self.analysis, program, {}, self.shared, self.varying)
            if not self._reached(evaluator):
                continue
            address = self._sum(evaluator, address_of(self.access))
            mask = self._mask(evaluator)
            if mask is None:
                touched.update((int(a) * size + self.base) // SECTOR_BYTES for a in address.data)
            else:
                flat = tiles.stretched(address, self.op.shape)
                allowed = tiles.stretched(tiles.aligned(mask, len(self.op.shape)), self.op.shape)
                touched.update(
                    (int(a) * size + self.base) // SECTOR_BYTES
                    for a, m in zip(flat, allowed, strict=True)
                    if m
                )
        return len(touched)
