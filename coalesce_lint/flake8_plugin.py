"""The plugin for flake8: ``flake8 --enable-extensions CL`` gives the lines of ``coalesce-lint check``.

Kernels are judged with the help of other files: helpers and launches. So the paths that flake8 was given are
checked as a whole before it starts, and each file gets its own findings when flake8 comes to it. Which files
are looked at is decided by flake8 and by coalesce-lint alike; only what both take is reported. A finding in a
helper whose file was not given is told where the helper is called.

flake8 imports this module for everybody who has it installed, so it imports nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from coalesce_lint import __version__

if TYPE_CHECKING:
    from coalesce_lint.access import Place
    from coalesce_lint.findings import Finding
    from coalesce_lint.settings import Settings

#: Line from 1, column from 0 (flake8 adds 1, as our own output does), text with the code, type.
Violation = tuple[int, int, str, type]


class Plugin:
    """One instance a file, as flake8 has it."""

    name = "coalesce-lint"
    version = __version__
    off_by_default = True

    _findings: ClassVar[dict[str, list[Violation]]] = {}  #: by absolute path
    _stdin: ClassVar[str | None] = None  #: the name of what is on standard input
    _options: ClassVar[Any] = None

    def __init__(self, tree: object, filename: str, lines: Sequence[str]) -> None:
        self._filename = filename
        self._lines = lines

    @classmethod
    def parse_options(cls, options: Any) -> None:
        """Called by flake8 once in each process, where the plugin is enabled. Raises ExecutionError."""
        cls._options = options
        cls._findings = {}
        cls._stdin = options.stdin_display_name if "-" in options.filenames else None
        _complain_of_rules()
        paths = [p for p in options.filenames or ["."] if p != "-"]
        if paths:
            cls._findings = _checked(options, paths)

    def run(self) -> Iterator[Violation]:
        if self._stdin is not None and self._filename == self._stdin:
            found = _checked(self._options, [], (self._stdin, _encoded("".join(self._lines))))
        else:
            found = self._findings
        yield from found.get(os.path.abspath(self._filename), ())


def _checked(
    options: Any, paths: list[str], stdin: tuple[str, bytes] | None = None
) -> dict[str, list[Violation]]:
    """What ``coalesce-lint check`` reports of ``paths`` or standard input, by absolute path."""
    from dataclasses import replace

    from coalesce_lint import check, files, prepare, settings
    from coalesce_lint.findings import all_rules

    named = [stdin[0]] if stdin is not None else paths
    try:
        found = settings.find(named)
        rules = found.active(all_rules())
    except settings.SettingsError as error:
        raise _failure(str(error)) from None
    todo = replace(prepare.work(found, rules, paths), noqa=not options.disable_noqa)
    items = list(files.walk(paths, found.exclude, found.root))
    outcome = check.check_paths(
        items,
        todo,
        check.default_jobs() if options.jobs.is_auto else max(options.jobs.n_jobs, 1),
        stdin,
        prepare.cache(found, todo),
    )
    by_path: dict[str, list[Violation]] = {}
    given = {os.path.abspath(p) for p in [*named, *items] if isinstance(p, str)}
    for finding in _new(outcome.findings, found):
        place, text = _shown(finding, given)
        told = (place.line, place.column, text, Plugin)
        by_path.setdefault(os.path.abspath(place.path), []).append(told)
    for problem in outcome.problems:
        if problem.fatal:
            told = (1, 0, f"CL901 {problem.message}", Plugin)
            by_path.setdefault(os.path.abspath(problem.path), []).append(told)
    return by_path


def _complain_of_rules() -> None:
    from coalesce_lint.commands.common import complain_of_rules

    complain_of_rules()


def _new(findings: list[Finding], found: Settings) -> list[Finding]:
    """The findings that the baseline of the settings does not know."""
    from coalesce_lint import baseline

    if found.baseline is None:
        return findings
    try:
        return baseline.new_findings(findings, found.baseline)
    except baseline.BaselineError as error:
        raise _failure(f"baseline {error}") from None


def _shown(finding: Finding, given: set[str]) -> tuple[Place, str]:
    """The place and the text of ``finding``, in one of the files ``given``."""
    from coalesce_lint.output.text import printable, qualifiers

    place = finding.place
    code, message = f"{finding.code}{qualifiers(finding)}", printable(finding.message)
    if os.path.abspath(place.path) not in given:
        for call, _ in finding.related:
            if os.path.abspath(call.path) in given:
                return call, f"{code} {printable(place.path)}:{place.line}:{place.column + 1}: {message}"
    return place, f"{code} {message}"


def _encoded(text: str) -> bytes:
    """Source text as the bytes that it says it is made of."""
    import io
    import tokenize

    data = text.encode("utf-8", "surrogatepass")
    try:
        return text.encode(tokenize.detect_encoding(io.BytesIO(data).readline)[0])
    except (SyntaxError, LookupError, UnicodeEncodeError):
        return data


def _failure(message: str) -> Exception:
    """What ends flake8 with a message instead of a traceback."""
    from flake8.exceptions import ExecutionError

    return ExecutionError(f"coalesce-lint: {message}")
