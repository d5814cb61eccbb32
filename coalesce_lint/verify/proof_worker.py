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
from coalesce_lint.verify.recorder import Place, Recorder, element_bytes
from coalesce_lint.verify.trace import Site, Tracer
from coalesce_lint.verify.variant.permutation import Permutation

#: The share of neighbouring lanes that must lie equally far apart for an access to have a stride.
DOMINANT = 0.75
#: Executions of one access of which lane distances are looked at.
STEPS_SEEN = 16


class OutOfBounds(RuntimeError):
    """An access outside the memory of the launch's tensors."""


@dataclass
class Event:
    """One execution of one access: addresses in bytes and which lanes are active (None: all)."""

    kind: str
    places: list[Place]
    addresses: np.ndarray
    mask: np.ndarray | None
    size: int

    def active(self) -> np.ndarray:
        flat = self.addresses.reshape(-1)
        if self.mask is None:
            return flat
        return flat[np.broadcast_to(self.mask, self.addresses.shape).reshape(-1)]


class RealRecorder(Recorder):
    """Carries accesses out, after each was checked and written down."""

    def __init__(self, atomics: tuple[Any, Any]) -> None:
        self.atomics = atomics
        self.events: list[Event] = []
        self.starts = np.zeros(0, dtype=np.int64)
        self.ends = np.zeros(0, dtype=np.int64)
        self.order: list[int] = []
        super().__init__()

    def _install(self, builder: Any) -> None:
        super()._install(builder)  # for loops over numpy integers
        from triton.runtime import interpreter as module

        recorder = self
        native = module._interpreter
        to_numpy = module._get_np_dtype

        def load(_: Any, pointers: Any, mask: Any, other: Any, *rest: Any, **named: Any) -> Any:
            recorder.note("load", pointers, mask.data)
            kind = pointers.get_element_ty()
            dtype = to_numpy(kind)
            filler = np.zeros(pointers.data.shape, dtype) if other is None else other.data
            return recorder.handle(native.load(pointers.data, mask.data, filler, dtype), pointers)

        def store(_: Any, pointers: Any, value: Any, mask: Any, *rest: Any, **named: Any) -> Any:
            recorder.note("store", pointers, mask.data)
            return native.store(pointers.data, value.data, mask.data)

        rmw, cas = recorder.atomics

        def atomic_rmw(own: Any, operation: Any, pointers: Any, value: Any, mask: Any, *rest: Any) -> Any:
            recorder.note("atomic", pointers, mask.data)
            return rmw(own, operation, pointers, value, mask, *rest)

        def atomic_cas(own: Any, pointers: Any, *rest: Any) -> Any:
            recorder.note("atomic", pointers, None)
            return cas(own, pointers, *rest)

        builder.create_masked_load = load
        builder.create_masked_store = store
        builder.create_atomic_rmw = atomic_rmw
        builder.create_atomic_cas = atomic_cas

    def over(self, memory: Memory) -> None:
        """Makes the storages of ``memory`` the only ones that may be touched."""
        spans = sorted((memory.base_of(k), memory.flat[k].numel(), k) for k in range(len(memory.flat)))
        self.starts = np.array([s for s, _, _ in spans], dtype=np.int64)
        self.ends = np.array([s + n for s, n, _ in spans], dtype=np.int64)
        self.order = [k for _, _, k in spans]

    def note(self, kind: str, pointers: Any, mask: np.ndarray | None) -> None:
        addresses = np.array(pointers.data, dtype=np.int64)
        size = element_bytes(pointers)
        event = Event(
            kind, self.places(), addresses, None if mask is None else np.array(mask, dtype=bool), size
        )
        active = event.active()
        if active.size:
            index = np.searchsorted(self.starts, active, side="right") - 1
            outside = (index < 0) | (active + size > self.ends[np.maximum(index, 0)])
            if outside.any():
                raise OutOfBounds(self.describe(event, int(active[outside.argmax()])))
        self.events.append(event)
        if self.take is not None:
            self.take(kind, addresses, event.mask, size)

    def describe(self, event: Event, address: int) -> str:
        place = event.places[0] if event.places else ("?", 0, 0)
        distances = [
            (address - int(e), k) for e, k in zip(self.ends, self.order, strict=True) if address >= e
        ]
        where = (
            "before its tensors"
            if not distances
            else f"{min(distances)[0] + event.size} bytes past the end of a tensor"
        )
        return f"the {event.kind} at {place[0]}:{place[1]} reaches {where}"

    def located(self, addresses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Storage numbers and byte offsets within them."""
        index = np.searchsorted(self.starts, addresses, side="right") - 1
        return np.array(self.order, dtype=np.int64)[index], addresses - self.starts[index]


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
        first = self.programs(original, program, weight, counted)
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


def show(event: Event) -> str:
    place = event.places[0] if event.places else ("?", 0, 0)
    return f"the {event.kind} at line {place[1]}"


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
