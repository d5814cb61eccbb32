"""Watches kernel launches in the process of the user's program, and keeps the largest that differ."""

from __future__ import annotations

import functools
import inspect
import json
import os
import sys
from pathlib import Path
from typing import Any

from coalesce_lint.verify import closure
from coalesce_lint.verify.arguments import argument, shallow, tensors_of, write_storage
from coalesce_lint.verify.configurations import Tuners
from coalesce_lint.verify.worker import describe

#: Launches of one kernel that are looked at; later ones run as if nobody were watching.
LOOKED_AT = 64


class Watcher:
    """Keeps launches in ``folder``: of each kernel the ``keep`` largest that differ."""

    def __init__(self, folder: Path, keep: int, limit_bytes: int) -> None:
        self.folder = folder
        self.keep = keep
        self.limit_bytes = limit_bytes
        self.kernels: dict[int, dict[str, Any]] = {}
        self.trial = 0
        self.serial = 0
        self.notes: list[str] = []
        self.launches: list[dict[str, Any]] = []
        self.alive: list[Any] = []
        self.facts: dict[str, Any] = {}
        self.tuners = Tuners()
        self.asked: list[dict[str, Any] | None] | None = None

    def install(self) -> None:
        from triton.runtime import interpreter, jit
        from triton.runtime.autotuner import Autotuner

        watcher = self
        for owner in (jit.JITFunction, interpreter.InterpretedFunction):
            owner.run = watcher.wrapped(owner.run)
        Autotuner.run = self.tuners.wrapped(Autotuner.run)
        bench = Autotuner._bench

        def flagged(tuner: Any, *args: Any, **kwargs: Any) -> Any:
            if os.environ.get("TRITON_INTERPRET") == "1":
                return [
                    1.0,
                    1.0,
                    1.0,
                ]  # without a GPU no configuration is better than another: the first is used
            watcher.trial += 1
            try:
                return bench(tuner, *args, **kwargs)
            finally:
                watcher.trial -= 1

        Autotuner._bench = flagged

    def wrapped(self, original: Any) -> Any:
        watcher = self

        def run(kernel: Any, *args: Any, grid: Any = None, warmup: bool = False, **kwargs: Any) -> Any:
            if watcher.asked is not None:
                watcher.asked.append(watcher.launch(kernel, args, kwargs, grid))
                return None
            if not warmup and not watcher.trial:
                watcher.look(kernel, args, kwargs, grid)
                if watcher.kernels[id(kernel)]["left"] <= 0:
                    # Found before the class's: from now on this kernel's launches cost what they always cost.
                    kernel.run = functools.partial(original, kernel)
            return original(kernel, *args, grid=grid, warmup=warmup, **kwargs)

        return run

    def look(self, kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any], grid: Any) -> None:
        record = self.kernels.setdefault(id(kernel), {"left": LOOKED_AT, "keys": set(), "kept": []})
        self.alive.append(kernel)  # ids must not be used again
        record["left"] -= 1
        try:
            launch = self.launch(kernel, args, kwargs, grid)
        except Exception as error:
            self.note(
                f"a launch of {closure.python_function(kernel).__name__} is not kept: {describe(error)}"
            )
            record["left"] = 0
            return
        if launch is None or launch["key"] in record["keys"]:
            return
        record["keys"].add(launch["key"])
        kept = record["kept"]
        if len(kept) >= self.keep and launch["bytes"] <= min(k["bytes"] for k in kept):
            return
        try:
            launch["configurations"] = self.tuners.configurations(kernel, launch, self.ask)
        except Exception as error:  # of the user's own pruning
            launch["configurations"] = []
            self.note(f"the configurations of {launch['kernel']} are not known: {describe(error)}")
        try:
            self.snapshot(kernel, launch, record)
        except Exception as error:
            self.note(f"a launch of {launch['kernel']} is not kept: {describe(error)}")
            return
        kept.append(launch)
        if len(kept) > self.keep:
            smallest = min(kept, key=lambda k: k["bytes"])
            kept.remove(smallest)
            self.forget(smallest)
        self.launches = [k for r in self.kernels.values() for k in r["kept"]]
        self.save()

    def ask(self, call: Any) -> dict[str, Any] | None:
        """The launch that a call would make, which is not made."""
        self.asked = []
        try:
            call()
            return self.asked[-1] if self.asked else None
        finally:
            self.asked = None

    def launch(
        self, kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any], grid: Any
    ) -> dict[str, Any] | None:
        """The launch as plain values; tensors stay in "tensors" until they are copied."""
        function = closure.python_function(kernel)
        signature = inspect.signature(function)
        options = {k: v for k, v in kwargs.items() if k not in signature.parameters}
        bound = signature.bind(*args, **{k: v for k, v in kwargs.items() if k in signature.parameters})
        bound.apply_defaults()
        arguments = dict(bound.arguments)
        if callable(grid):
            grid = grid({**arguments, **options})
        sizes = tuple(int(g) for g in (grid if isinstance(grid, (tuple, list)) else (grid,)))
        tensors: list[Any] = []
        specs = {name: argument(value, tensors) for name, value in arguments.items()}
        devices = {str(t.device) for t in tensors}
        if len(devices) > 1:
            raise ValueError(f"its tensors lie on several devices ({', '.join(sorted(devices))})")
        if tensors and tensors[0].is_cuda:
            import torch

            if torch.cuda.is_current_stream_capturing():
                return None
        frame = caller()
        return {
            "kernel": function.__name__,
            "arguments": specs,
            "grid": sizes,
            "options": {k: v for k, v in options.items() if isinstance(v, (int, str)) and k != "warmup"},
            "key": repr(
                (id(kernel), [shallow(s) for s in specs.values()], sizes, sorted(options.items(), key=str))
            ),
            "bytes": sum(t.untyped_storage().nbytes() for t in tensors),
            "host": frame,
            "tensors": tensors,
            "file": f"launch-{len(self.alive)}.json",
        }

    def snapshot(self, kernel: Any, launch: dict[str, Any], record: dict[str, Any]) -> None:
        """Copies the launch's memory, each storage once, so that aliases stay aliases."""
        if "closure" not in record:
            self.serial += 1
            name = f"kernel-{self.serial}{closure.SUFFIX}"
            record["carried"] = closure.capture(kernel)
            record["closure"] = name
            (self.folder / name).write_text(json.dumps(record["carried"]))
        launch["closure"] = record["closure"]
        total = sum(
            {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in launch["tensors"]}.values()
        )
        if total > self.limit_bytes:
            raise MemoryError(f"its tensors take {total / 1e9:.1f} GB, more than --memory allows")
        storages: dict[int, int] = {}
        entries: list[dict[str, Any]] = []
        for tensor in launch.pop("tensors"):
            storage = tensor.untyped_storage()
            if storage.data_ptr() not in storages:
                storages[storage.data_ptr()] = len(entries)
                self.serial += 1
                file = f"memory-{self.serial}.bin"
                write_storage(storage, self.folder / file)
                entries.append(
                    {
                        "file": file,
                        "bytes": storage.nbytes(),
                        "device": str(tensor.device),
                        "address": storage.data_ptr(),
                    }
                )
        launch["storages"] = entries
        for spec in tensors_of(launch["arguments"].values()):
            spec["storage"] = storages[spec.pop("address")]

    def forget(self, launch: dict[str, Any]) -> None:
        for storage in launch["storages"]:
            (self.folder / storage["file"]).unlink(missing_ok=True)

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)
            self.save()

    def save(self, outcome: dict[str, Any] | None = None) -> None:
        plain = [{k: v for k, v in launch.items() if k not in ("tensors", "key")} for launch in self.launches]
        document = {"launches": plain, "notes": self.notes, "outcome": outcome or self.facts}
        temporary = self.folder / "launches.json.new"
        temporary.write_text(json.dumps(document))
        temporary.replace(self.folder / "launches.json")


def caller() -> list[Any] | None:
    """File and line of the user's code that launched."""
    frame = sys._getframe(1)
    own = os.path.dirname(os.path.abspath(__file__)) + os.sep
    import triton

    library = os.path.dirname(triton.__file__) + os.sep
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith((own, library)):
            return [name, frame.f_lineno]
        frame = frame.f_back  # type: ignore[assignment]
    return None
