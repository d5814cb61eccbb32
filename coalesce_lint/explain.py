"""The run of ``explain``: targets in, kernels and errors out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coalesce_lint import collector, files, pin_checks
from coalesce_lint.access import FileError, FileReport, Kernel
from coalesce_lint.analysis import analyze
from coalesce_lint.assume import Assumptions
from coalesce_lint.check import find_launches
from coalesce_lint.failures import describe
from coalesce_lint.launches.candidates import kernel_names
from coalesce_lint.pins import Pins
from coalesce_lint.settings import Settings

if TYPE_CHECKING:
    from coalesce_lint.launches.index import LaunchIndex


@dataclass(frozen=True)
class Target:
    """What to explain: a path, and the name of one kernel of it or "" for all."""

    path: str
    kernel: str = ""


def target(text: str) -> Target:
    """``PATH`` or ``PATH::KERNEL``; a path may itself contain ``::``."""
    path, parted, kernel = text.rpartition("::")
    return Target(path, kernel) if parted and not os.path.lexists(text) else Target(text)


@dataclass
class _Run:
    pins: Pins
    settings: Settings
    strings: bool
    checks: pin_checks.Checks
    launches: LaunchIndex | None = None
    errors: list[FileError] = field(default_factory=list)


@collector.between_files()
def explain_targets(
    targets: Sequence[Target],
    pins: Pins,
    settings: Settings,
    strings: bool = False,
    context: Sequence[str] = (),
) -> tuple[list[Kernel], list[FileError]]:
    """The kernels of ``targets`` in order, and what could not be read or found.

    ``strings``: kernels inside string literals, too. Launches are looked for in the targets' files and under
    the paths of ``context``.
    """
    run = _Run(pins, settings, strings, pin_checks.Checks(pins))
    run.launches = _launches([t.path for t in targets if t.path != "-"], context, run)
    kernels: list[Kernel] = []
    for wanted in targets:
        found: list[Kernel] = []
        before = len(run.errors)
        walk = files.walk([wanted.path], settings.exclude, settings.root)
        for item in ["-"] if wanted.path == "-" else walk:
            report = _explain_file(item, run, given=item == wanted.path)
            found += [k for k in report.kernels if wanted.kernel in ("", k.name)]
            run.errors += report.errors
        if wanted.kernel and not found and len(run.errors) == before:
            run.errors.append(FileError(wanted.path, 0, f"no kernel is named '{wanted.kernel}'"))
        kernels += found
    return kernels, [*run.errors, *run.checks.errors(kernels)]


def _launches(paths: Sequence[str], context: Sequence[str], run: _Run) -> LaunchIndex:
    hosts, sources = [], []
    for item in files.walk([*paths, *context], run.settings.exclude, run.settings.root):
        data = files.read_bytes(item) if isinstance(item, str) else item
        if isinstance(data, bytes) and isinstance(item, str):
            if files.may_launch(data):
                hosts.append((item, data))
            if files.may_hold_kernel(data):
                sources.append(data)
        elif isinstance(data, files.Problem) and data.path in context:
            run.errors.append(FileError(data.path, 0, data.message))
    roots = files.roots([*paths, *context])
    return find_launches(hosts, roots, Assumptions.of(run.settings), kernel_names(sources))


def _explain_file(item: str | files.Problem, run: _Run, given: bool) -> FileReport:
    """One file; of a walk only where it may hold a kernel, a file that was named always."""
    if isinstance(item, files.Problem):
        return FileReport(item.path, errors=[FileError(item.path, 0, item.message)] if item.fatal else [])
    path = "<stdin>" if item == "-" else item
    data = files.read_stdin() if item == "-" else files.read_bytes(item)
    if isinstance(data, files.Problem):
        return FileReport(path, errors=[FileError(path, 0, data.message)])
    if not given and item != "-" and not files.may_hold_kernel(data):
        return FileReport(path)
    assumptions = Assumptions.of(run.settings)
    try:
        report = analyze(
            path, data, run.pins, files.roots([path]), assumptions, run.strings, run.launches, every=True
        )
    except Exception as error:
        return FileReport(path, errors=[FileError(path, 0, f"internal error: {describe(error)}")])
    run.checks.seen(report)
    return report
