"""The check of one file: its bytes in, findings and counts out. Runs in worker processes, too."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coalesce_lint import consulted, files
from coalesce_lint.analysis import analyze
from coalesce_lint.failures import describe
from coalesce_lint.findings import Finding, Rule, all_rules, findings_of, run_rules
from coalesce_lint.suppress import Key, Suppressions
from coalesce_lint.trail import Source

if TYPE_CHECKING:
    from coalesce_lint.access import FileReport
    from coalesce_lint.assume import Assumptions
    from coalesce_lint.changes import Changes
    from coalesce_lint.launches.index import LaunchIndex
    from coalesce_lint.per_file import PerFileIgnores


@dataclass
class Counts:
    """What a run saw. ``accesses`` counts each access of each kernel, those in helpers once a kernel."""

    files: int = 0
    parsed: int = 0
    kernels: int = 0
    accesses: int = 0
    unknown: int = 0
    suppressed: int = 0
    known: int = 0  #: findings that the baseline has

    def add(self, other: Counts) -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


@dataclass
class FileResult:
    """What came of one file. ``crash`` is why it could not be analyzed although it could be read."""

    path: str
    findings: list[Finding] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    crash: str | None = None
    used: set[Key] = field(default_factory=set)  #: comments that silenced something, here or in other files
    idle: list[tuple[Key, Finding]] = field(
        default_factory=list
    )  #: findings on comments, unless they are used
    consulted: dict[str, str] = field(default_factory=dict)  #: what was seen of other files (``consulted``)
    broken: dict[str, str] = field(default_factory=dict)  #: rules that failed, with the first failure of each
    lasting: bool = True  #: the same again next time; not where a kernel was left for want of time


@dataclass(frozen=True)
class Work:
    """What is to be done with every file; goes to worker processes as it is."""

    codes: tuple[str, ...]  #: of the rules to run
    asked: frozenset[str] = frozenset()  #: codes that were selected by name, not by default
    roots: tuple[Path, ...] = ()  #: folders in which imported helpers are looked for
    assumptions: Assumptions | None = None  #: what is taken for granted of launches
    strings: bool = False  #: look for kernels inside string literals, too
    per_file: PerFileIgnores | None = None
    changes: Changes | None = None  #: only kernels that these touch
    frames: bool = False  #: findings shall carry their source lines and how their addresses came to be
    noqa: bool = True  #: heed ``# noqa`` comments
    launches: LaunchIndex | None = None  #: the launches in all files of the run

    def plain(self) -> list[Any]:
        """All but the launches as plain data, for the result cache."""
        from coalesce_lint import records

        return [records.plain(getattr(self, f.name)) for f in fields(self) if f.name != "launches"]


def check_source(source: tuple[str, bytes], todo: Work) -> FileResult:
    """The findings in one file; what goes wrong is told in ``crash``."""
    path, data = source
    try:
        with consulted.recording() as answers:
            result = _check(path, data, todo)
        result.consulted = answers
        return result
    except Exception as error:
        return FileResult(path, crash=f"internal error: {describe(error)}; the file was not checked")


def _check(path: str, data: bytes, todo: Work) -> FileResult:
    rules = [r for r in all_rules() if r.code in todo.codes]
    counts = Counts(parsed=1)
    report = analyze(path, data, None, todo.roots, todo.assumptions, todo.strings, todo.launches)
    for kernel in report.kernels:
        counts.kernels += 1
        counts.accesses += len(kernel.accesses)
        counts.unknown += sum(a.pattern == "unknown" for a in kernel.accesses)
    result = FileResult(path, counts=counts, lasting=not any(e.kernel for e in report.errors))

    def failed(rule: Rule, where: str, error: Exception) -> None:
        result.lasting = False
        result.broken.setdefault(rule.code, f"failed {where}: {describe(error)}")

    texts = _Texts(path, report.lines)
    own = texts.of(path)
    off = [k for k in report.kernels if own.covers_kernel(k)]
    on = [k for k in report.kernels if not own.covers_kernel(k)] if off else report.kernels
    for kernel in off:
        silenced = sum(_wanted(f, todo) for f in run_rules([kernel], [], rules, failed))
        own.covers_kernel(kernel, of_use=silenced > 0)
        counts.suppressed += silenced
    for finding in run_rules(on, report.errors, rules, failed):
        if not _wanted(finding, todo) or not _is_touched(finding, report, todo):
            continue
        comments = texts.of(finding.place.path)
        if comments.covers(finding, todo.noqa):
            counts.suppressed += 1
        else:
            result.findings.append(_without_site(_framed(finding, comments) if todo.frames else finding))
    result.used = texts.used()
    result.idle = _idle_comments(own, rules, todo, failed)
    report.release()
    return result


def _wanted(finding: Finding, todo: Work) -> bool:
    if finding.optional and finding.code not in todo.asked:
        return False
    return todo.per_file is None or not todo.per_file.ignores(finding.place.path, finding.code)


def _is_touched(finding: Finding, report: FileReport, todo: Work) -> bool:
    """Whether the changes touch the finding itself or one of the kernels it may be about."""
    if todo.changes is None:
        return True
    place = finding.place
    spans = [(k.path, k.first_line or k.line, k.end_line) for k in report.kernels if k.name == finding.kernel]
    spans.append((place.path, place.line, max(place.line, place.end_line)))
    return any(todo.changes.touch(*span) for span in spans)


def _framed(finding: Finding, comments: Suppressions) -> Finding:
    """The finding with its source lines and the steps by which its address came to be."""
    source = Source(comments.path, comments.lines)
    trail = [(s.place, s.role) for s in source.steps(finding.place)] if finding.access else []
    numbers = {finding.place.line, *(p.line for p, _ in trail)}
    lines = {n: source.lines[n - 1] for n in numbers if 0 < n <= len(source.lines)}
    return replace(finding, trail=trail, lines=lines)


def _idle_comments(
    own: Suppressions, rules: Sequence[Rule], todo: Work, failed: Callable[[Rule, str, Exception], None]
) -> list[tuple[Key, Finding]]:
    """What the rules say of the comments in a file, each unless it silenced something in this run."""
    found = []
    every = all_rules()
    usual = [r.code for r in every if r.default]
    for key, place, said in own.unused(todo.codes, [r.code for r in every], usual):
        for rule in rules:
            check = functools.partial(rule.check_comment, place, said)
            for finding in findings_of(rule, check, "on a comment", failed):
                if _wanted(finding, todo) and not own.covers_comment(finding):
                    found.append((key, finding))
    return found


def _without_site(finding: Finding) -> Finding:
    """The finding without the expression graphs behind its access: large, and of no use to a reader."""
    if finding.access is None or finding.access.site is None:
        return finding
    return replace(finding, access=replace(finding.access, site=None))


class _Texts:
    """The comments of the file at hand, and of the files that hold the helpers it calls."""

    def __init__(self, path: str, lines: list[str]) -> None:
        self._known = {path: Suppressions(path, lines)}

    def of(self, path: str) -> Suppressions:
        if path not in self._known:
            data = files.read_bytes(path)
            consulted.note(path, data if isinstance(data, bytes) else None)
            lines: list[str] = []
            if isinstance(data, bytes):
                with contextlib.suppress(files.DecodeError):
                    lines = files.decode(data).split("\n")
            self._known[path] = Suppressions(path, lines)
        return self._known[path]

    def used(self) -> set[Key]:
        return {key for comments in self._known.values() for key in comments.used}
