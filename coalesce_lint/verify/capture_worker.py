"""Runs the user's program and keeps its kernel launches. Runs as a subprocess, for it runs the user's code.

``JITFunction.run`` and ``InterpretedFunction.run`` are wrapped on their classes: autotuning and heuristics
are merged by then, and arguments, grid and options are those of the launch. A launch's memory is copied
before it runs. Not seen: launches that do not go through these methods (Inductor's, ahead-of-time compiled
ones, replays of CUDA graphs).
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import os
import runpy
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coalesce_lint.verify import closure, synthesize
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

    def install(self) -> None:
        from triton.runtime import interpreter, jit
        from triton.runtime.autotuner import Autotuner

        watcher = self
        for owner in (jit.JITFunction, interpreter.InterpretedFunction):
            owner.run = watcher.wrapped(owner.run)
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


def argument(value: Any, tensors: list[Any]) -> dict[str, Any]:
    """One launch argument as plain values. Raises TypeError for what cannot be carried."""
    import torch

    value = closure.constant(value)
    wrapper = None
    if type(value).__name__ == "TensorWrapper":
        wrapper, value = str(value.dtype).removeprefix("torch."), value.base
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return {
            "kind": "tensor",
            "dtype": str(value.dtype).removeprefix("torch."),
            "wrapper": wrapper,
            "size": list(value.size()),
            "stride": list(value.stride()),
            "offset": value.data_ptr() - value.untyped_storage().data_ptr() if value.numel() else 0,
            "address": value.untyped_storage().data_ptr(),
        }
    if isinstance(value, bool):
        return {"kind": "bool", "value": value}
    if isinstance(value, int):
        return {"kind": "int", "value": int(value)}
    if isinstance(value, float):
        return {"kind": "float", "value": value}
    if value is None:
        return {"kind": "none"}
    if isinstance(value, str):
        return {"kind": "str", "value": value}
    if type(value).__name__ == "dtype" and type(value).__module__.startswith("triton"):
        return {"kind": "dtype", "value": str(value)}
    if isinstance(value, tuple):
        return {"kind": "tuple", "values": [argument(v, tensors) for v in value]}
    if type(value).__name__ == "TensorDescriptor":
        raise TypeError("a tensor descriptor made by the host: TMA has no lane sectors, not applicable")
    raise TypeError(f"an argument of type {type(value).__name__} cannot be carried along")


def tensors_of(specs: Any) -> Iterator[dict[str, Any]]:
    for spec in specs:
        if spec["kind"] == "tensor":
            yield spec
        elif spec["kind"] == "tuple":
            yield from tensors_of(spec["values"])


def shallow(spec: dict[str, Any]) -> Any:
    """What tells two launches apart: not where their memory lies, only how it is aligned."""
    if spec["kind"] == "tensor":
        address = (spec["address"] + spec["offset"]) % 16
        return (spec["dtype"], tuple(spec["size"]), tuple(spec["stride"]), address)
    if spec["kind"] == "tuple":
        return tuple(shallow(v) for v in spec["values"])
    return spec.get("value")


def write_storage(storage: Any, path: Path) -> None:
    """The bytes of a storage, wherever it lies."""
    import torch

    flat = torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)
    flat.cpu().numpy().tofile(path)


#: What torch.cuda answers where there is none: the architecture that is compiled for, and nothing to wait
#: for.
CUDA_ANSWERS: dict[str, Any] = {
    "synchronize": lambda *_: None,
    "empty_cache": lambda: None,
    "current_device": lambda: 0,
    "set_device": lambda *_: None,
    "manual_seed": lambda *_: None,
    "get_device_capability": lambda *_: (9, 0),
    "get_device_name": lambda *_: "no GPU",
    "device": lambda *_: contextlib.nullcontext(),
}


class OnCpu:
    """Lets a program that asks for CUDA run without it: devices named cuda become the CPU."""

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        import torch
        from torch.overrides import TorchFunctionMode

        def moved(value: Any) -> Any:
            if isinstance(value, torch.device) and value.type == "cuda":
                return torch.device("cpu")
            return "cpu" if isinstance(value, str) and value.split(":")[0] == "cuda" else value

        class Mode(TorchFunctionMode):
            def __torch_function__(
                self, function: Any, types: Any, args: Any = (), kwargs: Any = None
            ) -> Any:
                kwargs = dict(kwargs or {})
                name = getattr(function, "__name__", "")
                if name == "cuda":
                    return args[0]
                if "device" in kwargs:
                    kwargs["device"] = moved(kwargs["device"])
                if name == "to":
                    args = tuple(moved(a) if isinstance(a, (str, torch.device)) else a for a in args)
                return function(*args, **kwargs)

        for name, value in CUDA_ANSWERS.items():
            setattr(torch.cuda, name, value)
        with Mode():
            yield


def prepare_interpreter() -> None:
    """What launches need without a GPU: a driver that says where tensors live, and loops over numpy
    integers."""
    import numpy as np
    import torch
    from triton.runtime import interpreter
    from triton.runtime.driver import driver

    from coalesce_lint.verify.compile_worker import StandInDriver

    class CpuDriver(StandInDriver):
        def get_active_torch_device(self) -> Any:
            return torch.device("cpu")

        def get_device_interface(self) -> Any:
            return torch.cpu

    from triton.backends.compiler import GPUTarget

    driver.set_active(CpuDriver(GPUTarget("cuda", 90, 32)))
    original = interpreter._patch_lang_tensor

    def patch_tensor(tensor: Any, *scope: Any) -> None:
        original(tensor, *scope)
        tensor.__index__ = lambda value: int(np.asarray(value.handle.data).reshape(-1)[0])

    interpreter._patch_lang_tensor = patch_tensor


def run_program(task: dict[str, Any]) -> None:
    """Runs what the task names. SystemExit and exceptions of the program go through."""
    if task["mode"] == "script":
        sys.argv = [task["script"], *task["args"]]
        sys.path[0] = os.path.dirname(os.path.abspath(task["script"]))
        runpy.run_path(task["script"], run_name="__main__")
    elif task["mode"] == "module":
        sys.argv = [task["module"], *task["args"]]
        sys.path[0] = os.getcwd()
        runpy.run_module(task["module"], run_name="__main__", alter_sys=True)
    else:
        synthesize.launch(task)


def main() -> None:
    task = json.loads(Path(sys.argv[1]).read_text())
    watcher = Watcher(Path(task["folder"]), task["keep"], task["limit_bytes"])
    interpreted = os.environ.get("TRITON_INTERPRET") == "1"
    outcome: dict[str, Any] = {"ok": True}
    try:
        import torch  # noqa: F401
        import triton

        outcome["triton"] = watcher.facts["triton"] = triton.__version__
        if interpreted:
            prepare_interpreter()
        watcher.install()
        with OnCpu()() if interpreted else contextlib.nullcontext():
            run_program(task)
    except SystemExit as leave:
        if leave.code not in (None, 0):
            outcome = {**outcome, "ok": False, "error": f"it ended with exit code {leave.code}"}
    except BaseException as error:
        place = user_place(error)
        traceback.print_exc()
        outcome = {**outcome, "ok": False, "error": describe(error), "place": place}
    watcher.save(outcome)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def user_place(error: BaseException) -> list[Any] | None:
    """The innermost line of the user's code that an exception went through."""
    import sysconfig

    libraries = tuple(
        p
        for p in (
            sysconfig.get_paths()["stdlib"],
            sysconfig.get_paths()["purelib"],
            os.path.dirname(__file__),
        )
    )
    found = None
    for frame in traceback.extract_tb(error.__traceback__):
        if not frame.filename.startswith((*libraries, "<frozen")):
            found = [frame.filename, frame.lineno]
    return found


if __name__ == "__main__":
    main()
