"""``explain --compiled``: kernels of a file compiled for a pinned launch, beside what the model says of them.

Importing this module imports neither torch nor triton; the user's file is imported in a subprocess only.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

from coalesce_lint.access import FileError, Kernel
from coalesce_lint.pins import Pins, installed_profile
from coalesce_lint.verify.request import Request

#: What the oracle imports, all of it in the ``verify`` extra.
NEEDED = ("torch", "triton", "numpy")


def obstacle(pins: Pins) -> str | None:
    """Why nothing can be compiled here, in one line; None where it can."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        return f"needs {' and '.join(missing)}: pip install 'coalesce-lint[verify]'"
    if pins.triton not in (None, installed_profile()):
        from importlib.metadata import version

        return f"compiles with the installed Triton, {version('triton')}: leave out --triton {pins.triton}"
    return None


def add_compiled(kernels: Sequence[Kernel], pins: Pins) -> list[FileError]:
    """Sets ``compiled`` of every access of ``kernels``; a kernel that is not compiled is an error.

    Arguments that a kernel takes from its own configurations and defaults are put into the model, too: the
    kernel's accesses are then those of a second reading.
    """
    by_path: dict[str, list[Kernel]] = {}
    for kernel in kernels:
        if kernel.accesses:
            by_path.setdefault(kernel.path, []).append(kernel)
    errors = []
    for path, here in by_path.items():
        errors += _compile_file(path, here, pins)
    return errors


def _compile_file(path: str, kernels: list[Kernel], pins: Pins) -> list[FileError]:
    from coalesce_lint.verify.compiled import predict
    from coalesce_lint.verify.sidebyside import pair
    from coalesce_lint.verify.worker import WorkerError

    if not os.path.isfile(path):
        return [FileError(path, 0, "--compiled imports a kernel's file, and here is none")]
    try:
        predictions = predict([Request.from_pins(path, k.name, pins, line=k.line) for k in kernels])
    except WorkerError as error:
        return [FileError(path, 0, f"nothing could be compiled: {error}")]
    errors = []
    for kernel, prediction in zip(kernels, predictions, strict=True):
        if prediction.error is not None:
            errors.append(problem(path, kernel, prediction))
            continue
        more = completed(pins, prediction.taken, prediction.num_warps)
        if more != pins:
            again = (k for k in _read(path, more) if (k.name, k.line) == (kernel.name, kernel.line))
            kernel.accesses = next(again, kernel).accesses
        for access, compiled in zip(kernel.accesses, pair(kernel.accesses, prediction), strict=True):
            access.compiled = compiled
    return errors


def _read(path: str, pins: Pins) -> Sequence[Kernel]:
    """The kernels of a file that was read before, under more pins."""
    from coalesce_lint import files
    from coalesce_lint.analysis import analyze

    data = files.read_bytes(path)
    return [] if isinstance(data, files.Problem) else analyze(path, data, pins, files.roots([path])).kernels


def completed(pins: Pins, taken: dict[str, Any], num_warps: int) -> Pins:
    """The pins with the arguments and the warps that the compiled kernel took by itself."""
    return replace(pins, args={**taken, **pins.args}, num_warps=pins.num_warps or num_warps)


def problem(path: str, kernel: Kernel, prediction: Any) -> FileError:
    """One line about a kernel that was not compiled, at the place that the compiler names if it does."""
    if prediction.missing:
        names = " ".join(f"--arg {name}=..." for name in prediction.missing)
        return FileError(path, kernel.line, f"{kernel.name} is not compiled: the launch lacks {names}")
    file, line = prediction.place or (path, kernel.line)
    return FileError(file, line, f"{kernel.name} is not compiled: {prediction.error}")
