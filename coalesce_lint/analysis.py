"""One file's bytes in, the engine's report out: what ``check`` and ``explain`` share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from coalesce_lint import collector, files
from coalesce_lint.access import FileError, FileReport, Place

if TYPE_CHECKING:
    from coalesce_lint.assume import Assumptions
    from coalesce_lint.launches.index import LaunchIndex
    from coalesce_lint.pins import Pins


def analyze(
    path: str,
    data: bytes,
    pins: Pins | None,
    roots: Sequence[Path],
    assumptions: Assumptions | None = None,
    strings: bool = False,
    launches: LaunchIndex | None = None,
    every: bool = False,
) -> FileReport:
    """What the engine says of a file's bytes; bytes that are no source text are an error of the report.

    ``strings``: kernels inside the file's string literals, too. ``launches`` are joined with the kernels that
    they launch, ``every``: with every access, not only with those that they may decide.
    """
    collector.next_file()
    try:
        text = files.decode(data)
    except files.DecodeError as error:
        return FileReport(path, errors=[FileError(path, error.line, str(error))])
    engine = load_engine()
    report: FileReport = engine.analyze_text(text, path, pins, roots=roots, assumptions=assumptions)
    report.lines = text.split("\n")
    if launches is not None:
        from coalesce_lint.launches.verdict import attach

        attach(report.kernels, launches.of_file(path), every)
    if strings:
        from coalesce_lint.strings import kernel_literals

        for literal in kernel_literals(text):
            inner = engine.analyze_text(literal.text, path, pins, roots=roots, assumptions=assumptions)
            if inner.kernels:  # else it is a text about kernels, or a template of one
                literal.put_into_file(inner)
                report.kernels += inner.kernels
                report.errors += inner.errors
        report.kernels.sort(key=lambda k: k.line)
    if not os.path.isabs(path):
        _show_relative(report)
    return report


def _show_relative(report: FileReport) -> None:
    """Shows other files, which hold helpers, as the file itself is shown: from the current folder."""

    def shown(place: Place) -> Place:
        return replace(place, path=os.path.relpath(place.path)) if os.path.isabs(place.path) else place

    for access in (a for k in report.kernels for a in k.accesses):
        access.place = shown(access.place)
        for call in access.call_chain:
            call.place = shown(call.place)


def load_engine() -> ModuleType:
    """The engine's module, imported only where there is something to analyze."""
    from coalesce_lint import engine

    return engine


def load_all() -> None:
    """Imports all that reading a kernel needs, so that forked workers have it and none imports it anew."""
    from coalesce_lint.findings import all_rules
    from coalesce_lint.kernels import finish  # noqa: F401  sympy comes with it

    load_engine()
    all_rules()
