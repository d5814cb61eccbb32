"""Counts one access: its addresses in representative programs, put through its layout."""

from __future__ import annotations

from math import prod
from typing import Any

from coalesce_lint.access import Access, Cost
from coalesce_lint.hardware import tiles
from coalesce_lint.hardware.addresses import Addresses, addresses, mask_values
from coalesce_lint.hardware.analysis import Analysis, Unresolved
from coalesce_lint.hardware.evaluate import Evaluator
from coalesce_lint.hardware.graph import loops_of, walk
from coalesce_lint.hardware.launch import SECTOR_BYTES, Launch
from coalesce_lint.hardware.layout import MemoryOp, vector_elements
from coalesce_lint.hardware.operations import address_of, operands, root_pointer
from coalesce_lint.hardware.programs import Program, program_weights, programs_of
from coalesce_lint.hardware.reasons import limited_by
from coalesce_lint.hardware.sectors import Count, count_scalar, count_tile, merged, request_elements
from coalesce_lint.index.nodes import Loop

#: Programs looked at in full, elements of tiles looked at in one access over all programs, grid elements
#: counted.
PROGRAMS = 24
ELEMENTS = 400_000
GRID_ELEMENTS = 50_000
_SHIFT = SECTOR_BYTES.bit_length() - 1
#: Those of a launch that is a sketch: not the first, where masks and wraps show least.
SKETCH_PROGRAMS: tuple[Program, ...] = ((1, 0, 0), (2, 1, 1))
#: Iterations of loops, taken in turn by the programs looked at.
ITERATIONS = (0, 1, 2, 3)
#: Executions within loops that are looked at where a mask differs between them.
SPREAD = 12


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
        self.patterns: dict[Any, tuple[Count, Any]] = {}
        layouts = [] if op.layout is None else [op.layout, *op.copies]
        # For each layout in which the operation is made: elements an instruction, and what each touches.
        self.variants = [
            (vector, request_elements(layout, vector, op.kind != "load"))
            for layout in layouts
            for vector in (vector_elements(op, layout),)
        ]
        pointer = root_pointer(address_of(self.access), analysis)
        self.base = pointer.offset if pointer is not None else 0
        assert self.access.site is not None
        around = {id(loop) for loop in self.access.site.loops}
        found = [loop for n in walk(operands(self.access)) for loop in loops_of(n)]
        #: The loops around the access on which it depends, and those that are over when it is reached.
        self.loops = {id(loop): loop for loop in (*self.access.site.loops, *found) if id(loop) in around}
        self.finished = {id(loop): loop for loop in found if id(loop) not in around}
        #: Whether the mask differs from one iteration to another.
        self.mask_moves = self.access.site.predicate is not None and any(
            id(loop) in around for n in walk([self.access.site.predicate]) for loop in loops_of(n)
        )
        self.data_axes: frozenset[int] | None = None
        # Equal loads are one, and of equal stores the last remains; predicated ones stay as they are.
        self.merges = op.kind != "atomic" and op.mask is None

    def programs(self) -> list[tuple[Program, float]]:
        """The programs to look at, fewer for large tiles."""
        limit = max(3, min(PROGRAMS, ELEMENTS // max(self.op.elements, 1)))
        return programs_of(self.launch.grid, limit)

    def cost(self) -> Cost | None:
        """The cost of the access, a mean over its executions. Raises Unresolved where the launch does not say
        enough."""
        try:
            total = self._total()
        except Unresolved:
            if not self.finished and not self.mask_moves:
                raise
            # Too far into a loop to be followed: only its first iterations are looked at.
            self.finished, self.mask_moves = {}, False
            total = self._total()
        cost = self._result(total) if total.programs else None
        for evaluator in self.analysis.evaluators.values():
            evaluator.forget()
        return cost

    def _total(self) -> Count:
        total = Count()
        programs = self.programs()
        for number, (program, weight) in enumerate(programs):
            for iterations, share in self._turns(program, number, len(programs)):
                evaluator = self._evaluator(program, iterations)
                if self._reached(evaluator):
                    total.add(self._program(evaluator), weight * share)
        return total

    def _evaluator(self, program: Program, iterations: dict[int, int]) -> Evaluator:
        """The evaluator of a program and its iterations, shared by the accesses of the kernel."""
        key = (program, *sorted(iterations.items()))
        known = self.analysis.evaluators.get(key)
        if known is None:
            known = Evaluator(self.analysis, program, iterations, self.shared, self.varying)
            self.analysis.evaluators[key] = known
        return known

    def _turns(self, program: Program, number: int, programs: int) -> list[tuple[dict[int, int], float]]:
        """Iterations of the loops around the access to look at, each with the number of those it stands for.

        Where a mask changes with them, some evenly spread and the last one, in which it is most likely to cut
        something off; else the first few, by turns if there are many programs, for alignments that move. A
        loop that is over has made all its iterations.
        """
        over = {key: self._trips(loop, program) or 0 for key, loop in self.finished.items()}
        if not self.loops:
            return [(over, 1.0)]
        if self.launch.sketch:
            return [({**over, **dict.fromkeys(self.loops, 1)}, 1.0)]
        trips = {key: self._trips(loop, program) for key, loop in self.loops.items()}
        executions = float(prod(1 if t is None else t for t in trips.values()))
        if self.mask_moves and all(trips.values()):
            turns = self._spread({key: t or 1 for key, t in trips.items()})
        else:
            wanted = ITERATIONS if programs <= PROGRAMS // 2 else ITERATIONS[number % len(ITERATIONS) :][:1]
            turns = [
                ({key: w if t is None else min(w, t - 1) for key, t in trips.items()}, 1 / len(wanted))
                for w in wanted
            ]
        return [({**over, **turn}, share * executions) for turn, share in turns if executions]

    @staticmethod
    def _spread(trips: dict[int, int]) -> list[tuple[dict[int, int], float]]:
        """All executions within nested loops if they are few; else the middles of equal parts, and the
        last."""
        total = prod(trips.values())
        if total <= SPREAD:
            chosen = [(k, 1 / total) for k in range(total)]
        else:
            others = total - 1
            chosen = [(int((k + 0.5) * others / SPREAD), others / total / SPREAD) for k in range(SPREAD)]
            chosen.append((total - 1, 1 / total))
        turns = []
        for number, share in chosen:
            place = {}
            for key, count in reversed(trips.items()):
                number, place[key] = divmod(number, count)
            turns.append((place, share))
        return turns

    def _trips(self, loop: Loop, program: Program) -> int | None:
        """How often a loop is run through, where its bounds are numbers in the first run of loops around
        it."""
        return self._evaluator(program, {}).trips(loop)

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
        found, mask = self._numbers(evaluator)
        if self.op.layout is None:
            return count_scalar(self.op, self.launch.num_warps, mask is None or bool(mask.data[0]))
        start = (found.first * self.op.element_bytes + self.base) % SECTOR_BYTES
        # Programs share the lists of their tiles (``tile_arithmetic.py``), so these are known by identity.
        key = (
            start,
            *((d, id(v)) for d, v in found.parts.items()),
            mask and (mask.dims, mask.base, id(mask.data)),
        )
        if key not in self.patterns:
            self.patterns[key] = (self._counted(found, mask, start), (found.parts, mask))
        return self.patterns[key][0]

    def _counted(self, found: Addresses, mask: tiles.Tile | None, start: int) -> Count:
        """Counts of the addresses ``start`` (bytes) and what the elements have more."""
        size, shape = self.op.element_bytes, self.op.shape
        if self.merges:
            self._merge(found)
        flat = tiles.stretched(tiles.total(found.parts, len(shape)), shape)
        allowed = None if mask is None else tiles.stretched(tiles.aligned(mask, len(shape)), shape)
        bytes_at = [start + size * a for a in flat]
        known = Count()
        for vector, elements in self.variants:
            known.add(count_tile(self.op, elements, bytes_at, allowed, vector))
        known.programs = 1
        return known

    def _numbers(self, evaluator: Evaluator) -> tuple[Addresses, tiles.Tile | None]:
        """Addresses and mask of one program; notes on which axes addresses depend on data."""
        assert self.access.site is not None
        found = addresses(evaluator, self.access.site.address, len(self.op.shape))
        if found.data_axes is not None:
            self.data_axes = found.data_axes | (self.data_axes or frozenset())
        return found, mask_values(evaluator, self.access.site.predicate)

    def _merge(self, found: Addresses) -> None:
        """Leaves out instructions that load or store what another one of the thread does."""
        self.merges = False
        if any(len(elements) > 1 for _, elements in self.variants):
            terms = {d: range(len(v)) if d in found.unseen else v for d, v in found.parts.items()}
            flat = [tiles.spread(list(v), d, self.op.shape) for d, v in terms.items()]
            self.variants = [(vector, merged(elements, flat)) for vector, elements in self.variants]

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
            program_bytes=None if gathers else round(total.program_bytes / total.programs),
            program_lookups=None if gathers else round(total.sectors / total.programs),
            layouts=tuple(
                (d, vector_elements(op, d) * size) for d in (op.layout, *op.copies) if d is not None
            ),
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
            evaluator = self._evaluator(program, {})
            address = tiles.total(self._numbers(evaluator)[0].parts, len(shape))
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
        if (
            gathers
            or grid is None
            or self.loops
            or self.finished
            or prod(grid) * max(self.op.elements, 64) > GRID_ELEMENTS
        ):
            return None
        touched: set[int] = set()
        size = self.op.element_bytes
        for program, _ in program_weights(grid, prod(grid)):
            evaluator = self._evaluator(program, {})
            if not self._reached(evaluator):
                continue
            found, mask = self._numbers(evaluator)
            address = tiles.total(found.parts, len(self.op.shape))
            base = found.first * size + self.base
            if mask is None:
                touched.update([(base + a * size) >> _SHIFT for a in address.data])
            else:
                flat = tiles.stretched(address, self.op.shape)
                allowed = tiles.stretched(tiles.aligned(mask, len(self.op.shape)), self.op.shape)
                touched.update([(base + a * size) >> _SHIFT for a, m in zip(flat, allowed, strict=True) if m])
        return len(touched)
