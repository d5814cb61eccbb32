"""Addresses of every access, on the CPU, by Triton's interpreter. Runs as a subprocess with
TRITON_INTERPRET=1.

Loads and stores are recorded and never carried out: pointers are made-up addresses (or numbers from given
arrays), so nothing is dereferenced. An access is known by the place of its call and of the calls around it,
innermost first.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from coalesce_lint.hardware.linear_layout import LinearLayout
from coalesce_lint.hardware.programs import programs_of
from coalesce_lint.verify import worker
from coalesce_lint.verify.count import Counts, Emitted, Plan, count
from coalesce_lint.verify.recorder import UNKNOWN_COLUMN, Place, Recorder
from coalesce_lint.verify.request import ADDRESS_STEP
from coalesce_lint.verify.subject import bind, fake_pointer, load_kernel, unwrap

#: Executions of one access within a program that are counted in full; further ones of a loop are taken as
#: their mean.
EXECUTIONS_COUNTED = 64


class Site:
    """What is known of one access over all traced programs."""

    def __init__(self, places: list[Place], kind: str, size: int) -> None:
        self.places = places
        self.kind = kind
        self.element_bytes = size
        self.operations: list[dict[str, Any]] = []
        self.plans: list[list[Plan]] = []  #: for each execution in turn, the operations that carry it out
        self.total = Counts()
        self.data_dependent = False
        self.first: list[np.ndarray] = []


class Tracer:
    """Traces tasks. A task is a request with the ``operations`` of its compilation."""

    def __init__(self) -> None:
        self.recorder = Recorder()
        self.kernels: dict[tuple[str, str, int | None], Any] = {}

    def __call__(self, task: dict[str, Any]) -> dict[str, Any]:
        key = (task["path"], task["kernel"], task.get("line"))
        if key not in self.kernels:
            self.kernels[key] = load_kernel(*key)
        values, _, _ = bind(self.kernels[key], task, fake_pointer)
        function, _, _ = unwrap(self.kernels[key])
        grid = None if task["grid"] is None else tuple(task["grid"])
        programs = programs_of(grid, task["programs"])
        self.read_contents(task, values)
        sites: dict[Any, Site] = {}
        with self.patched(function, values, grid or (8, 8, 8)) as (body, arguments):
            self.detect_data(task, body, arguments, programs[0][0], sites)
            for program, weight in programs:
                self.run(task, body, arguments, program, weight, sites)
        return {"programs": len(programs), "sites": [self.describe(s) for s in sites.values()]}

    def read_contents(self, task: dict[str, Any], values: dict[str, Any]) -> None:
        self.recorder.contents = {}
        for name, file in (task.get("contents") or {}).items():
            self.recorder.contents[values[name].data_ptr() // ADDRESS_STEP] = np.load(file)

    @contextlib.contextmanager
    def patched(
        self, function: Any, values: dict[str, Any], grid: tuple[int, ...]
    ) -> Iterator[tuple[Any, Any]]:
        """The rewritten kernel and its converted arguments, with ``triton.language`` patched meanwhile."""
        interpreter = self.recorder.interpreter
        body = function.rewrite()
        constexprs = interpreter.GridExecutor(body, function.arg_names, grid).constexprs
        scope = interpreter._patch_lang(body)
        try:
            convert = interpreter._implicit_cvt
            arguments = {n: v if n in constexprs else convert(v) for n, v in values.items()}
            interpreter.interpreter_builder.set_grid_dim(*(*grid, 1, 1, 1)[:3])
            with np.errstate(all="ignore"):
                yield body, arguments
        finally:
            if scope is not None:
                scope.restore()

    def run_program(self, body: Any, arguments: dict[str, Any], program: tuple[int, int, int]) -> None:
        self.recorder.interpreter.interpreter_builder.set_grid_idx(*program)
        body(**arguments)

    def run(
        self,
        task: dict[str, Any],
        body: Any,
        arguments: dict[str, Any],
        program: tuple[int, int, int],
        weight: float,
        sites: dict[Any, Site],
    ) -> None:
        """Traces one program and adds its counts, ``weight`` times, to the sites."""
        counted: dict[Any, tuple[int, Counts]] = {}

        def take(kind: str, addresses: np.ndarray, mask: np.ndarray | None, size: int) -> None:
            places = self.recorder.places()
            key = (kind, tuple(places))
            if key not in sites:
                sites[key] = self.site(task, places, kind, size)
            site = sites[key]
            done, total = counted.get(key, (0, Counts()))
            if done < EXECUTIONS_COUNTED and site.plans:
                for plan in site.plans[done % len(site.plans)]:
                    total.add(count(plan, np.asarray(addresses), mask))
            counted[key] = (done + 1, total)

        self.recorder.take = take
        self.run_program(body, arguments, program)
        for key, (done, total) in counted.items():
            seen = min(done, EXECUTIONS_COUNTED)
            total.executions = seen
            sites[key].total.add(total, weight * done / seen)

    def detect_data(
        self,
        task: dict[str, Any],
        body: Any,
        arguments: dict[str, Any],
        program: tuple[int, int, int],
        sites: Any,
    ) -> None:
        """Runs one program with two sets of made-up values: addresses that differ depend on data."""
        self.recorder.integers_loaded = False
        runs: list[dict[Any, list[np.ndarray]]] = []
        for seed in (0, 12345):
            self.recorder.seed = seed
            seen: dict[Any, list[np.ndarray]] = {}

            def take(
                kind: str,
                addresses: np.ndarray,
                mask: Any,
                size: int,
                seen: dict[Any, list[np.ndarray]] = seen,
            ) -> None:
                places = self.recorder.places()
                entry = seen.setdefault((kind, tuple(places)), [])
                sites.setdefault((kind, tuple(places)), self.site(task, places, kind, size))
                if len(entry) < 4:
                    entry.append(np.array(addresses))

            self.recorder.take = take
            self.run_program(body, arguments, program)
            runs.append(seen)
            if not self.recorder.integers_loaded:
                break
        self.recorder.seed = 0
        for key in runs[0]:
            first, last = runs[0][key], runs[-1].get(key, [])
            sites[key].data_dependent = len(first) != len(last) or any(
                a.shape != b.shape or (a - a.flat[0] != b - b.flat[0]).any()
                for a, b in zip(first, last, strict=True)
            )

    def site(self, task: dict[str, Any], places: list[Place], kind: str, size: int) -> Site:
        """A new site with the compiled operations whose places are these; unrolled copies follow each
        other."""
        site = Site(places, kind, size)
        same = [o for o in task["operations"] if o["kind"] == kind and same_places(o["places"], places)]
        for serial in sorted({o["serial"] for o in same}):
            # A pipelined loop repeats its operations before and after: those within the loop stand for all.
            depth = max(o["depth"] for o in same if o["serial"] == serial)
            here = [o for o in same if o["serial"] == serial and o["depth"] == depth]
            site.operations += here
            plans = [make_plan(o, task["num_warps_compiled"]) for o in here]
            if kind == "load" and len({str(p.layout) for p in plans}) == len(plans):
                # A cheap load is repeated in each layout that is wanted of it.
                site.plans.append(plans)
            else:
                site.plans += [[p] for p in plans]
        return site

    def describe(self, site: Site) -> dict[str, Any]:
        return {
            "places": site.places,
            "kind": site.kind,
            "element_bytes": site.element_bytes,
            "data_dependent": site.data_dependent,
            "operations": [o["serial"] for o in site.operations],
            "counts": vars(site.total),
        }


def same_places(compiled: list[Any], traced: list[Place]) -> bool:
    """True where two chains of calls are the same; an unknown column of the tracer agrees with any."""
    return len(compiled) == len(traced) and all(
        os.path.realpath(a[0]) == os.path.realpath(b[0]) and a[1] == b[1] and b[2] in (a[2], UNKNOWN_COLUMN)
        for a, b in zip(compiled, traced, strict=True)
    )


def make_plan(operation: dict[str, Any], num_warps: int) -> Plan:
    """The counting plan of a compiled operation as it came over JSON."""
    layout = None
    if operation["layout"] is not None:
        register, lane, warp = (tuple(map(tuple, bases)) for bases in operation["layout"])
        layout = LinearLayout(tuple(operation["shape"]), register, lane, warp)
    # An async copy is a load, but duplicate threads do not take part in it
    # (``emitRedundantThreadPredicate``).
    kind = "store" if operation["name"] == "ttg.async_copy_global_to_local" else operation["kind"]
    return Plan(
        kind, operation["element_bits"] // 8, num_warps, layout, [Emitted(*e) for e in operation["emitted"]]
    )


if __name__ == "__main__":
    worker.main(Tracer)
