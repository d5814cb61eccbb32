"""Runs programs of a captured launch on the CPU, by Triton's interpreter, over the launch's own memory.

Two tasks: "examine" counts what each access costs and tells how far apart neighbouring lanes are; "prove"
runs the original and a variant side by side and compares every address of every active lane, and what the
two leave in memory. Runs as a subprocess with TRITON_INTERPRET=1. Every address is checked against the
launch's storages before it is used.
"""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from coalesce_lint.hardware.linear_layout import LinearLayout
from coalesce_lint.hardware.programs import program_weights
from coalesce_lint.verify import closure, stage
from coalesce_lint.verify.memory import Memory
from coalesce_lint.verify.real_memory import Event, OriginalOutOfBounds, OutOfBounds, RealRecorder, show
from coalesce_lint.verify.trace import Site, Tracer
from coalesce_lint.verify.variant.permutation import Permutation

#: The share of neighbouring lanes that must lie equally far apart for an access to have a stride.
DOMINANT = 0.75
#: Executions of one access of which lane distances are looked at.
STEPS_SEEN = 16


@dataclass
class Side:
    """One of the two kernels of a proof, with its memory."""

    task: dict[str, Any]
    memory: Memory
    kernel: Any
    sites: dict[Any, Site] = field(default_factory=dict)


class Prover(Tracer):
    """Answers the two tasks."""

    def __init__(self) -> None:
        from triton.runtime import interpreter

        builder = interpreter.InterpreterBuilder
        self.real = RealRecorder((builder.create_atomic_rmw, builder.create_atomic_cas))
        self.recorder = self.real
        self.kernels = {}

    def __call__(self, task: dict[str, Any]) -> dict[str, Any]:
        if task["mode"] == "start":
            return {"ready": True}
        return self.examine(task) if task["mode"] == "examine" else self.prove(task)

    def side(self, task: dict[str, Any]) -> Side:
        folder = Path(task["folder"])
        kernel = closure.load(task["path"])
        return Side(task, Memory(folder, task["launch"], "cpu"), kernel)

    def programs(self, side: Side, program: Any, weight: float, counted: bool = True) -> list[Event]:
        """Runs one program and gives back its events."""
        self.real.over(side.memory)
        self.real.events = []
        values = side.memory.values()
        grid = tuple(side.task["launch"]["grid"])
        with self.patched(side.kernel, values, grid) as (body, arguments):
            if counted:
                self.run(side.task, body, arguments, program, weight, side.sites)
            else:
                self.real.take = None
                self.run_program(body, arguments, program)
        return self.real.events

    # examine

    def examine(self, task: dict[str, Any]) -> dict[str, Any]:
        side = self.side(task)
        steps: dict[Any, Counter[int]] = {}
        touched: dict[Any, set[int]] = {}
        written: set[int] = set()
        read: set[int] = set()
        seen: Counter[Any] = Counter()
        bytes_moved = 0.0
        programs = program_weights(tuple(task["launch"]["grid"]), task["programs"])
        for program, weight in programs:
            for event in self.programs(side, program, weight):
                key = (event.kind, tuple(event.places))
                active = event.active()
                bytes_moved += weight * active.size * event.size
                if not active.size:
                    continue
                seen[key] += 1
                storages = {int(k) for k in np.unique(self.real.located(active)[0])}
                touched.setdefault(key, set()).update(storages)
                if event.kind != "load":
                    written |= storages
                if event.kind != "store":
                    read |= storages
                if seen[key] <= STEPS_SEEN:
                    steps.setdefault(key, Counter()).update(self.distances(event, side.sites[key]))
        sites = []
        for key, site in side.sites.items():
            found = self.describe(site)
            found["operations_full"] = site.operations
            found["storages"] = sorted(touched.get(key, ()))
            found["step"], found["share"] = dominant(steps.get(key, Counter()))
            found["executed"] = seen[key] > 0
            sites.append(found)
        return {
            "sites": sites,
            "written": sorted(written),
            "read": sorted(read),
            "programs": len(programs),
            "bytes_moved": bytes_moved,
        }

    def distances(self, event: Event, site: Site) -> Counter[int]:
        """How far apart, in elements, neighbours along the axis of the first lane are."""
        axis = lane_axis(site)
        if axis is None or event.addresses.ndim <= axis:
            return Counter()
        mask = np.ones(event.addresses.shape, dtype=bool) if event.mask is None else event.mask
        mask = np.broadcast_to(mask, event.addresses.shape)
        apart = np.diff(event.addresses, axis=axis) // event.size
        both = np.take(mask, range(1, mask.shape[axis]), axis) & np.take(
            mask, range(mask.shape[axis] - 1), axis
        )
        values, counts = np.unique(apart[both], return_counts=True)
        return Counter(dict(zip(map(int, values), map(int, counts), strict=True)))

    # prove

    def prove(self, task: dict[str, Any]) -> dict[str, Any]:
        original, variant = self.side(task["original"]), self.side(task["variant"])
        grid = tuple(task["original"]["launch"]["grid"])
        pairs: dict[Any, Any] = {}
        weights = program_weights(grid, task["programs"])
        done: set[tuple[int, ...]] = set()
        deadline = time.monotonic() + task["seconds"]
        for program, weight in weights:
            trouble = self.compare(original, variant, program, weight, pairs)
            if trouble:
                return {"failed": trouble, "programs": len(done)}
            done.add(program)
        sizes = (*grid, 1, 1, 1)[:3]
        for further in itertools.product(*map(range, sizes)):
            if time.monotonic() > deadline:
                break
            if further not in done:
                trouble = self.compare(original, variant, further, 0.0, pairs, counted=False)
                if trouble:
                    return {"failed": trouble, "programs": len(done)}
                done.add(further)
        variant.memory.restore_original()
        differing = self.differing(original.memory, variant.memory)
        return {
            "proved": True,
            "programs": len(done),
            "grid": math.prod(sizes),
            "outputs_equal": differing is None,
            "differing": differing,
            "pairs": [[list(a[1]), list(b[1])] for a, b in pairs.items()],
            "sites": [self.describe(s) for s in variant.sites.values()],
            "original_sites": [self.describe(s) for s in original.sites.values()],
        }

    def compare(
        self,
        original: Side,
        variant: Side,
        program: Any,
        weight: float,
        pairs: dict[Any, Any],
        counted: bool = True,
    ) -> str | None:
        """Runs a program of both; why the addresses are not those they should be, else None."""
        try:
            first = self.programs(original, program, weight, counted)
        except OutOfBounds as error:
            raise OriginalOutOfBounds(str(error)) from None
        located = [self.real.located(e.active()) if e.active().size else None for e in first]
        second = self.programs(variant, program, weight, counted)
        if len(first) != len(second):
            return f"the variant makes {len(second)} accesses where the original makes {len(first)}"
        for a, b, here in zip(first, second, located, strict=True):
            if a.kind != b.kind or a.size != b.size:
                return "the variant's accesses come in another order"
            pairs.setdefault((a.kind, tuple(a.places)), (b.kind, tuple(b.places)))
            theirs = b.active()
            if theirs.size != a.active().size or (here is None) != (theirs.size == 0):
                return f"other lanes are active at {show(a)}"
            if here is None:
                continue
            trouble = self.mapped(variant.memory, here, self.real.located(theirs), a)
            if trouble:
                return trouble
        return None

    def mapped(self, memory: Memory, here: Any, there: Any, event: Event) -> str | None:
        storages = memory.launch["storages"]
        moved = {
            s["permuted_from"]: k
            for k, s in enumerate(storages)
            if "permuted_from" in s and not s.get("copy")
        }
        for number in np.unique(there[0]):
            chosen = there[0] == number
            source, offsets = here[0][chosen], here[1][chosen]
            storage = storages[int(number)]
            if "permuted_from" not in storage:
                if int(number) in moved:
                    return f"{show(event)} reaches the permuted tensor by a pointer that was not followed"
                expected, wanted = offsets, int(number)
            else:
                size = storage["element_bytes"]
                elements = offsets - storage["origin"]
                if (elements < 0).any() or (elements >= storage["permutation"]["length"] * size).any():
                    return f"{show(event)} reaches beyond the tensor's own elements"
                expected = Permutation(**storage["permutation"]).offsets(elements // size) * size
                wanted = storage["permuted_from"]
            if (source != wanted).any():
                return f"{show(event)} reaches another tensor than in the original"
            wrong = there[1][chosen] != expected
            if wrong.any():
                k = int(wrong.argmax())
                return (
                    f"{show(event)}: the lane that reads byte {int(offsets[k])} of the original should go to "
                    f"{int(expected[k])} and goes to {int(there[1][chosen][k])}"
                )
        return None

    def differing(self, original: Memory, variant: Memory) -> str | None:
        """How the two differ in what they leave in memory, None where they do not."""
        for number, storage in enumerate(original.launch["storages"]):
            a, b = original.flat[number], variant.flat[number]
            if a.numel() and not bool((a == b).all()):
                return f"{int((a != b).sum())} of {storage['bytes']} bytes differ"
        return None


def lane_axis(site: Site) -> int | None:
    """The tile axis that neighbouring lanes walk: that of the first lane basis which is not zero."""
    for operation in site.operations:
        if operation["layout"] is None:
            continue
        layout = LinearLayout(tuple(operation["shape"]), *(tuple(map(tuple, b)) for b in operation["layout"]))
        for basis in layout.lane:
            if any(basis):
                return next(k for k, step in enumerate(basis) if step)
    return None


def dominant(steps: Counter[int]) -> tuple[int | None, float]:
    """The distance that most neighbouring lanes have, and their share."""
    total = sum(steps.values())
    if not total:
        return None, 0.0
    ((step, count),) = steps.most_common(1)
    return step, count / total


if __name__ == "__main__":
    stage.serve(Prover)
