"""What becomes of a run's findings: evidence, baseline, comments, output, exit code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from coalesce_lint.commands.common import fail
from coalesce_lint.terminal import OutputError, complain, complain_lines, has_colour, write

if TYPE_CHECKING:
    from coalesce_lint.check import Outcome
    from coalesce_lint.settings import Settings


def conclude(outcome: Outcome, form: str, found: Settings, options: dict[str, Any]) -> int:
    """Does with ``outcome`` what the options of ``check`` say, and returns the exit code."""
    if options["evidence"]:
        _join_evidence(outcome, options["evidence"], options["min_slowdown"])
    elif options["min_slowdown"] is not None:
        fail("--min-slowdown needs --evidence")
    if options["write_baseline"] is not None:
        return _write_baseline(outcome, options["write_baseline"], options["quiet"])
    known = options["baseline"] or found.baseline
    if known is not None:
        _leave_out_known(outcome, known)
    if options["add_noqa"]:
        return _add_noqa(outcome, options["quiet"])
    _emit(outcome, form, options["output_file"])
    if options["statistics"]:
        from coalesce_lint.output import statistics

        complain_lines(statistics.render(outcome))
    return _finish(outcome, options["quiet"], options["exit_zero"])


def _join_evidence(outcome: Outcome, paths: tuple[Path, ...], limit: float | None) -> None:
    from coalesce_lint.evidence import Evidence, EvidenceError

    try:
        outcome.findings = Evidence.read(list(paths)).join(outcome.findings, limit)
    except EvidenceError as error:
        fail(str(error))


def _leave_out_known(outcome: Outcome, path: Path) -> None:
    from coalesce_lint import baseline

    try:
        new = baseline.new_findings(outcome.findings, path)
    except baseline.BaselineError as error:
        fail(f"--baseline {error}")
    outcome.counts.known = len(outcome.findings) - len(new)
    outcome.findings = new


def _write_baseline(outcome: Outcome, path: Path, quiet: bool) -> int:
    from coalesce_lint import baseline
    from coalesce_lint.check import number_of

    try:
        baseline.write(path, outcome.findings)
    except baseline.BaselineError as error:
        fail(f"--write-baseline {error}")
    if not quiet:
        complain(f"{number_of(len(outcome.findings), 'finding')} written to {path}")
    _complain_of_problems(outcome)
    return 2 if outcome.exit_code == 2 else 0


def _add_noqa(outcome: Outcome, quiet: bool) -> int:
    from coalesce_lint.add_noqa import add_noqa
    from coalesce_lint.check import number_of

    done = add_noqa(f for f in outcome.findings if f.code not in ("CL901", "CL902"))
    outcome.problems += done.problems
    _complain_of_problems(outcome)
    if not quiet:
        complain(f"{number_of(done.added, 'comment')} added, {number_of(done.changed, 'file')} changed")
    return 2 if outcome.exit_code == 2 else 0


def _emit(outcome: Outcome, form: str, path: Path | None) -> None:
    import importlib

    module = importlib.import_module(f"coalesce_lint.output.{form.replace('-', '_')}")
    text = module.render(outcome, has_colour() and path is None)
    if path is None:
        write(text)
        return
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise OutputError(f"--output-file {path}: {error.strerror or error}") from None


def _finish(outcome: Outcome, quiet: bool, exit_zero: bool) -> int:
    from coalesce_lint.check import summary

    _complain_of_problems(outcome)
    if not quiet:
        complain(summary(outcome))
    return 0 if exit_zero and outcome.exit_code == 1 else outcome.exit_code


def _complain_of_problems(outcome: Outcome) -> None:
    for problem in outcome.problems:
        complain(f"{problem.path}: {problem.message}")
