"""The run of ``explain``: targets in, kernels and errors out."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from coalesce_lint import files
from coalesce_lint.access import FileError, FileReport, Kernel
from coalesce_lint.check import analyze, describe
from coalesce_lint.pins import Pins


def explain_targets(
    targets: Sequence[str], pins: Pins, compiled: bool = False
) -> tuple[list[Kernel], list[FileError]]:
    """The kernels of ``PATH`` and ``PATH::KERNEL`` targets in order, and what could not be read or found.

    With ``compiled`` each kernel is compiled, too, which imports its file in a subprocess; without it nothing
    that is read is ever run.
    """
    kernels: list[Kernel] = []
    errors: list[FileError] = []
    texts: list[str] = []
    for target in targets:
        path, _, wanted = target.partition("::")
        found: list[Kernel] = []
        broken = False
        for item in ["-"] if path == "-" else files.walk([path]):
            report = _explain_file(item, pins, texts, given=item == path)
            chosen = [k for k in report.kernels if not wanted or k.name == wanted]
            errors += report.errors
            if compiled and chosen:
                errors += _compile(report.path, chosen, pins)
            found += chosen
            broken = broken or bool(report.errors)
        if wanted and not found and not broken:
            errors.append(FileError(path, 0, f"no kernel is named '{wanted}'"))
        kernels += found
    errors += _unused_pins(pins, texts)
    return kernels, errors


def _compile(path: str, kernels: list[Kernel], pins: Pins) -> list[FileError]:
    """Sets ``compiled`` of the accesses of a file's kernels; a kernel that is not compiled is an error."""
    from coalesce_lint.verify.explain import add_compiled

    if path == "<stdin>":
        return [FileError(path, 0, "--compiled imports a kernel's file, and standard input is none")]

    def read(more: Pins) -> list[Kernel]:
        return _explain_file(path, more, [], given=True).kernels

    return add_compiled(path, kernels, pins, read)


def _explain_file(item: str | files.Problem, pins: Pins, texts: list[str], given: bool) -> FileReport:
    """One file; of a walk only where it may hold a kernel, a file that was named always."""
    if isinstance(item, files.Problem):
        return FileReport(item.path, errors=[FileError(item.path, 0, item.message)])
    path = "<stdin>" if item == "-" else item
    data = sys.stdin.buffer.read(files.SIZE_LIMIT) if item == "-" else files.read_bytes(item)
    if isinstance(data, files.Problem):
        return FileReport(path, errors=[FileError(path, 0, data.message)])
    if not given and item != "-" and not files.may_hold_kernel(data):
        return FileReport(path)
    try:
        report = analyze(path, data, pins, files.roots([path]))
    except Exception as error:
        return FileReport(path, errors=[FileError(path, 0, f"internal error: {describe(error)}")])
    if report.lines:
        texts.append("\n".join(report.lines))
    return report


def _unused_pins(pins: Pins, texts: Sequence[str]) -> list[FileError]:
    """An error for each pinned name that is in none of the files: most likely misspelt."""
    return [
        FileError(f"--arg {name}", 0, "no such name in the files")
        for name in pins.args
        if texts and not any(re.search(rf"\b{re.escape(name)}\b", text) for text in texts)
    ]
