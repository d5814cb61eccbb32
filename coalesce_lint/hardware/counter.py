"""Counts one access: its addresses in representative programs, put through its layout."""

from __future__ import annotations

from math import prod
from typing import Any

from coalesce_lint.access import Access, Cost
from coalesce_lint.hardware import tiles
from coalesce_lint.hardware.analysis import Analysis, Unresolved
from coalesce_lint.hardware.evaluate import Evaluator
from coalesce_lint.hardware.graph import walk
from coalesce_lint.hardware.launch import SECTOR_BYTES, Launch
from coalesce_lint.hardware.layout import MemoryOp, vector_elements
from coalesce_lint.hardware.operations import address_of, operands, root_pointer
from coalesce_lint.hardware.programs import Program, program_weights
from coalesce_lint.hardware.reasons import limited_by
from coalesce_lint.hardware.sectors import Count, count_scalar, count_tile, merged, request_elements
from coalesce_lint.index.nodes import Node

#: Programs looked at in full, elements of tiles looked at in one access over all programs, grid elements
#: counted.
PROGRAMS = 24
ELEMENTS = 400_000
GRID_ELEMENTS = 50_000
_SHIFT = SECTOR_BYTES.bit_length() - 1
#: Programs of a launch whose grid is not given.
SOME_PROGRAMS: tuple[Program, ...] = ((0, 0, 0), (1, 0, 0), (2, 1, 0), (3, 2, 1))
#: Iterations of loops, taken in turn by the programs looked at.
ITERATIONS = (0, 1, 2, 3)


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
        layouts = [] if op.layout is None else [op.layout, *op.copies]
        # For each layout in which the operation is made: elements an instruction, and what each touches.
        self.variants = [
            (vector, request_elements(layout, vector, op.kind != "load"))
            for layout in layouts
            for vector in (vector_elements(op, layout),)
        ]
        pointer = root_pointer(address_of(self.access), analysis)
        self.base = pointer.offset if pointer is not None else 0
        self.loops = {
            id(n.attr if n.op != "carried" else n.attr.loop): n
            for n in walk(operands(self.access))
            if n.op in ("loopvar", "iter", "carried")
        }
        self.data_axes: frozenset[int] | None = None
        # Equal loads are one, and of equal stores the last remains; predicated ones stay as they are.
        self.merges = op.kind != "atomic" and op.mask is None
        self.unseen: set[tuple[int, ...]] = set()

    def _provable(self, term: Node) -> bool:
        """True where the assembler sees which values of a term are equal: divisions are by powers of two
        only."""
        for node in walk([term]):
            if node.op in ("min", "max", "where", "cmp"):
                return False
            if node.op in ("div", "mod"):
                value = self.analysis.info(node.args[1]).value
                if value is None or value <= 0 or value & (value - 1):
                    return False
        return True

    def programs(self) -> list[tuple[Program, float]]:
        """The programs to look at, fewer for large tiles."""
        limit = max(3, min(PROGRAMS, ELEMENTS // max(self.op.elements, 1)))
        if self.launch.grid is None:
            return [(p, 1.0) for p in SOME_PROGRAMS[:limit]]
        return program_weights(self.launch.grid, limit)

    def cost(self) -> Cost | None:
        total = Count()
        programs = self.programs()
        turns = len(ITERATIONS) if self.loops and len(programs) <= PROGRAMS // 2 else 1
        for number, (program, weight) in enumerate(programs):
            for turn in range(turns):
                iterations = self._iterations(program, turn if turns > 1 else number)
                evaluator = Evaluator(self.analysis, program, iterations, self.shared, self.varying)
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

    def _program(self, evaluator: Evaluator) -> Count:
        """Counts of one program; programs whose addresses differ by whole sectors only are counted once."""
        first, parts = self._address(evaluator)
        mask = self._mask(evaluator)
        if self.op.layout is None:
            return count_scalar(self.op, self.launch.num_warps, mask is None or bool(mask.data[0]))
        size, shape = self.op.element_bytes, self.op.shape
        start = (first * size + self.base) % SECTOR_BYTES
        key = (start, tuple(parts.items()), None if mask is None else (mask.dims, tuple(mask.data)))
        known = self.patterns.get(key)
        if known is None:
            if self.merges:
                self._merge(parts)
            flat = tiles.stretched(tiles.total(parts, len(shape)), shape)
            allowed = None if mask is None else tiles.stretched(tiles.aligned(mask, len(shape)), shape)
            bytes_at = [start + size * a for a in flat]
            known = Count()
            for vector, elements in self.variants:
                known.add(count_tile(self.op, elements, bytes_at, allowed, vector))
            known.programs = 1
            self.patterns[key] = known
        return known

    def _merge(self, parts: tiles.Parts) -> None:
        """Leaves out instructions that load or store what another one of the thread does."""
        self.merges = False
        if any(len(elements) > 1 for _, elements in self.variants):
            terms = {d: range(len(v)) if d in self.unseen else v for d, v in parts.items()}
            flat = [tiles.stretched(tiles.Tile(d, list(v)), self.op.shape) for d, v in terms.items()]
            self.variants = [(vector, merged(elements, flat)) for vector, elements in self.variants]

    def _address(self, evaluator: Evaluator) -> tuple[int, tiles.Parts]:
        """The address of the tile's first element and what the others have more, in elements.

        The rest is kept in parts, one for each set of axes on which terms vary: sums over the whole tile
        are rare.
        """
        terms: list[Node] = []
        stack = [address_of(self.access)]
        rank = len(self.op.shape)
        while stack:
            here = stack.pop()
            if here.op == "add" and len(self.analysis.shape(here)) == rank:
                stack.extend(here.args)
            elif here.op in ("broadcast", "hint") and len(self.analysis.shape(here.args[0])) in (0, rank):
                stack.append(here.args[0])
            else:
                terms.append(here)
        first = 0
        by_dims: dict[tuple[int, ...], list[int]] = {}
        for term in terms:
            value = tiles.aligned(evaluator.value(term), rank)
            if value.tainted:
                axes = value.taint_axes or frozenset()
                self.data_axes = axes if self.data_axes is None else self.data_axes | axes
            base = int(value.data[0])
            first += base
            if len(value.data) > 1:
                more = [int(x) - base for x in value.data]
                if self.merges and not self._provable(term):
                    self.unseen.add(value.dims)
                before = by_dims.get(value.dims)
                by_dims[value.dims] = (
                    more if before is None else [a + b for a, b in zip(before, more, strict=True)]
                )
        return first, {dims: tuple(data) for dims, data in by_dims.items()}

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
        """Axes along which neighbours in the tile are neighbours in memory, upwards or downwards."""
        shape = self.op.shape
        if not shape:
            return set()
        try:
            program = self.programs()[0][0]
            evaluator = Evaluator(
                self.analysis, program, self._iterations(program, 0), self.shared, self.varying
            )
            address = tiles.total(self._address(evaluator)[1], len(shape))
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
            if pairs and sum(abs(d) == 1 for d in pairs) >= 0.75 * len(pairs):
                found.add(axis)
        return found

    def _grid_sectors(self, gathers: bool) -> int | None:
        """Distinct sectors of the whole grid, where it is given and small enough to be looked at in full."""
        grid = self.launch.grid
        if gathers or grid is None or self.loops or prod(grid) * max(self.op.elements, 64) > GRID_ELEMENTS:
            return None
        touched: set[int] = set()
        size = self.op.element_bytes
        for program, _ in program_weights(grid, prod(grid)):
            evaluator = Evaluator(self.analysis, program, {}, self.shared, self.varying)
            if not self._reached(evaluator):
                continue
            first, parts = self._address(evaluator)
            mask = self._mask(evaluator)
            address = tiles.total(parts, len(self.op.shape))
            base = first * size + self.base
            if mask is None:
                touched.update([(base + a * size) >> _SHIFT for a in address.data])
            else:
                flat = tiles.stretched(address, self.op.shape)
                allowed = tiles.stretched(tiles.aligned(mask, len(self.op.shape)), self.op.shape)
                touched.update([(base + a * size) >> _SHIFT for a, m in zip(flat, allowed, strict=True) if m])
        return len(touched)
