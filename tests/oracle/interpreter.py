"""Runs kernels under Triton's own interpreter and prints the addresses it touched: a check of the oracle
itself.

``run_jobs`` starts this file as a process of its own, because Triton has to be imported with
``TRITON_INTERPRET=1`` and because its interpreter leaves ``triton.language`` patched. No memory is
dereferenced: the builder's loads and stores are replaced by ones that record addresses and return what the
oracle's memory holds.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .execute import Launch, PointerArg, launch
from .memory import Record, root_address
from .modules import JitFunction, Module

if TYPE_CHECKING:
    from .generate import Case


def job(text: str, kernel: JitFunction, arguments: dict[str, Any], how: Launch) -> dict[str, Any]:
    """One launch as JSON."""
    encoded = {}
    for name in kernel.parameters:
        if name in arguments:
            value = arguments[name]
            pointer = isinstance(value, PointerArg)
            encoded[name] = (
                {"address": root_address(kernel.parameters.index(name)), "element": value.element}
                if pointer
                else {"value": value, "constexpr": name in kernel.constexprs}
            )
    return {
        "text": text,
        "kernel": kernel.name,
        "arguments": encoded,
        "programs": how.programs,
        "grid": how.grid,
        "seed": how.seed,
        "table": how.table,
    }


def expected(records: list[Record]) -> list[dict[str, Any]]:
    """The oracle's records in the form that the interpreter's process prints."""
    rows = []
    for r in records:
        rows.append(
            {
                "line": r.line,
                "column": r.column,
                "shape": list(r.address.shape),
                "address": r.address.ravel().tolist(),
            }
        )
    return rows


def run_jobs(jobs: list[dict[str, Any]], timeout: float = 600.0) -> list[dict[str, Any]]:
    """For each job ``{"records": [...]}`` or ``{"error": text}``."""
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(Path(__file__).parent.parent)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "oracle.interpreter"],
        input=json.dumps(jobs),
        capture_output=True,
        text=True,
        timeout=timeout,
        env=environment,
        cwd=Path(__file__).parent.parent,
    )
    if done.returncode:
        raise RuntimeError(f"the interpreter's process failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


@dataclass
class Differences:
    """Kernels that oracle and interpreter read differently, and why the interpreter could not run some."""

    launches: int = 0
    different: list[tuple[int, str]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def differences(cases: list[Case], per_case: int = 2) -> Differences:
    """Runs generated kernels under both; the addresses of every lane must be equal, access by access."""
    from .generate import bindings, launches

    jobs, known, seeds = [], [], []
    for case in cases:
        function = Module(case.text, "kernel.py").functions[case.kernel]
        for arguments in bindings(case)[:per_case]:
            for how in launches(case):
                known.append(expected(launch(function, arguments, how)))
                jobs.append(job(case.text, function, arguments, how))
                seeds.append(case.seed)
    found = Differences(len(jobs))
    for seed, mine, theirs in zip(seeds, known, run_jobs(jobs), strict=True):
        if "error" in theirs:
            found.errors.append(theirs["error"][:60])
        elif mine != theirs["records"]:
            pairs = [(a, b) for a, b in zip(mine, theirs["records"], strict=False) if a != b]
            text = str(pairs[0]) if pairs else f"{len(mine)} accesses against {len(theirs['records'])}"
            found.different.append((seed, text[:400]))
    return found


# -- inside the process --------------------------------------------------------------------------------------


class Tracer:
    """Replaces the interpreter builder's memory operations."""

    def __init__(self, builder: Any) -> None:
        from .memory import stored_value

        self.records: list[dict[str, Any]] = []
        self.file, self.seed, self.table = "", 0, 61
        module = sys.modules[builder.__class__.__module__]

        def fetch(handle: Any, mask: Any, other: Any) -> Any:
            element = handle.get_element_ty()
            values = stored_value(handle.data.astype(np.int64), self.seed, self.table)
            if mask is not None:
                values = np.where(mask.data, values, 0 if other is None else other.data)
            return module.TensorHandle(values.astype(module._get_np_dtype(element)), element)

        def load(pointers: Any, mask: Any, other: Any, *_rest: Any, **_kw: Any) -> Any:
            self.note(pointers)
            return fetch(pointers, mask, other)

        def store(pointers: Any, *_rest: Any) -> None:
            self.note(pointers)

        def atomic(_kind: Any, pointers: Any, _value: Any, mask: Any, *_rest: Any) -> Any:
            self.note(pointers)
            return fetch(pointers, mask, None)

        builder.create_masked_load, builder.create_masked_store = load, store
        builder.create_atomic_rmw = atomic

    def note(self, pointers: Any) -> None:
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != self.file:
            frame = frame.f_back  # type: ignore[assignment]
        if frame is None:
            return
        line, _end, column, _end_column = list(frame.f_code.co_positions())[frame.f_lasti // 2]
        data = pointers.data.astype(np.int64)
        shape = list(data.shape) if pointers.data.ndim and pointers.data.shape != (1,) else []
        self.records.append(
            {"line": line, "column": column, "shape": shape, "address": data.ravel().tolist()}
        )


def _run(task: dict[str, Any], tracer: Tracer, folder: Path, number: int) -> dict[str, Any]:
    import triton.language as tl
    from triton.runtime import interpreter as ti

    path = folder / f"case{number}.py"
    path.write_text(task["text"])
    tracer.records, tracer.file = [], str(path)
    tracer.seed, tracer.table = task["seed"], task["table"]
    spec = importlib.util.spec_from_file_location(f"case{number}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function = getattr(module, task["kernel"]).rewrite()
    arguments = {}
    for name, given in task["arguments"].items():
        if "address" in given:
            kind = tl.pointer_type(getattr(tl, given["element"]))
            handle = ti.TensorHandle(np.array([given["address"]], dtype=np.uint64), kind)
            arguments[name] = tl.tensor(handle, kind)
        else:
            value = given["value"]
            arguments[name] = value if given["constexpr"] or value is None else ti._implicit_cvt(value)
    patched = ti._patch_lang(function)
    try:
        ti.interpreter_builder.set_grid_dim(*task["grid"])
        for program in task["programs"]:
            ti.interpreter_builder.set_grid_idx(*program)
            function(**arguments)
    finally:
        patched.restore()
    return {"records": tracer.records}


def _mend_scalars(ti: Any) -> None:
    """numpy 2.4 turns only arrays without axes into integers; the interpreter's scalars have one axis."""
    original = ti._patch_lang_tensor

    def patch(tensor: Any, scope: Any) -> None:
        original(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    ti._patch_lang_tensor = patch


def main() -> None:
    from triton.runtime import interpreter as ti

    _mend_scalars(ti)
    tracer = Tracer(ti.interpreter_builder)
    results = []
    out, sys.stdout = sys.stdout, sys.stderr
    with tempfile.TemporaryDirectory() as folder:
        for number, task in enumerate(json.load(sys.stdin)):
            try:
                results.append(_run(task, tracer, Path(folder), number))
            except Exception as error:
                cause = error.__cause__ or error
                results.append({"error": f"{type(error).__name__}: {error} / {cause!r}"[:500]})
    print(json.dumps(results), file=out)


if __name__ == "__main__":
    main()
