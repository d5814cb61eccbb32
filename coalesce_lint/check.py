"""The run of ``check``: files in, findings and counts out. The engine is loaded once it is needed."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from coalesce_lint import files
from coalesce_lint.analysis import analyze, describe, load_engine
from coalesce_lint.findings import Finding, Rule, all_rules, run_rules
from coalesce_lint.suppress import Key, Suppressions
from coalesce_lint.trail import Source

if TYPE_CHECKING:
    from coalesce_lint.access import FileReport
    from coalesce_lint.assume import Assumptions
    from coalesce_lint.changes import Changes
    from coalesce_lint.launches.index import LaunchIndex
    from coalesce_lint.per_file import PerFileIgnores

#: From so many files with kernels on, worker processes are started.
PARALLEL_FROM = 4


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


@dataclass
class Outcome:
    """What came of a run: findings by place, problems (exit code 2) and counts."""

    findings: list[Finding] = field(default_factory=list)
    problems: list[files.Problem] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)

    @property
    def exit_code(self) -> int:
        if any(p.fatal for p in self.problems):
            return 2
        return 1 if any(f.severity != "info" for f in self.findings) else 0


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
    launches: LaunchIndex | None = None  #: the launches in all files of the run


def check_paths(
    items: Iterable[str | files.Problem],
    todo: Work,
    jobs: int,
    stdin: tuple[str, bytes | files.Problem] | None = None,
) -> Outcome:
    """Checks the files of ``items`` and ``stdin`` (name, content) in up to ``jobs`` processes."""
    outcome = Outcome()
    sources: list[tuple[str, bytes]] = []
    hosts: list[tuple[str, bytes]] = []
    given: list[tuple[str, bytes | files.Problem]] = [] if stdin is None else [stdin]
    for name, data in itertools.chain(given, _read(items)):
        if isinstance(data, files.Problem):
            outcome.problems.append(data)
            continue
        outcome.counts.files += 1
        if files.may_hold_kernel(data):
            sources.append((name, data))
        if files.may_launch(data):
            hosts.append((name, data))
    if sources:
        todo = replace(todo, launches=find_launches(hosts, todo.roots, todo.assumptions))
    check_sources(sources, todo, jobs, outcome)
    return outcome


def find_launches(
    hosts: Iterable[tuple[str, bytes]], roots: Sequence[Path], assumptions: Assumptions | None
) -> LaunchIndex:
    """The launches in the files of ``hosts`` (name, content); text that cannot be decoded holds none."""
    from coalesce_lint.launches import index

    texts = []
    for name, data in hosts:
        with contextlib.suppress(files.DecodeError):
            texts.append((name, files.decode(data)))
    return index.build(texts, roots, assumptions is None or assumptions.innermost)


def _read(items: Iterable[str | files.Problem]) -> Iterator[tuple[str, bytes | files.Problem]]:
    for item in items:
        yield (item, files.read_bytes(item)) if isinstance(item, str) else (item.path, item)


def summary(outcome: Outcome) -> str:
    """The line that ends a run: silence from finding no kernels must be told from finding nothing wrong."""
    counts = outcome.counts
    parts = [
        number_of(counts.files, "file") + f" ({counts.parsed} parsed)",
        number_of(counts.kernels, "kernel"),
        number_of(counts.accesses, "access"),
        f"{counts.unknown} unknown",
        number_of(len(outcome.findings), "finding"),
    ]
    left_out = [(counts.suppressed, "suppressed"), (counts.known, "in the baseline")]
    if any(number for number, _ in left_out):
        parts[-1] += f" ({', '.join(f'{number} {why}' for number, why in left_out if number)})"
    return ", ".join(parts)


def number_of(number: int, noun: str) -> str:
    """``1 file``, ``2 files``."""
    plural = noun + ("es" if noun.endswith("s") else "s")
    return f"{number} {noun if number == 1 else plural}"


def check_sources(sources: Sequence[tuple[str, bytes]], todo: Work, jobs: int, outcome: Outcome) -> None:
    """Adds to ``outcome`` what comes of ``sources``, all of which may hold kernels."""
    work = functools.partial(check_source, todo=todo)
    results: Iterable[FileResult]
    if jobs > 1 and len(sources) >= PARALLEL_FROM:
        from coalesce_lint import pool

        load_engine()
        answers = pool.run(work, sources, jobs)
        results = (
            a if isinstance(a, FileResult) else FileResult(s[0], crash=a)
            for s, a in zip(sources, answers, strict=True)
        )
    else:
        results = map(work, sources)
    unique: dict[tuple[object, ...], Finding] = {}
    used: set[Key] = set()
    idle: list[tuple[Key, Finding]] = []
    for result in results:
        used |= result.used
        idle += result.idle
        outcome.counts.add(result.counts)
        if result.crash:
            outcome.problems.append(files.Problem(result.path, result.crash))
        for finding in result.findings:
            # a helper is reached from several files, under a path that each of them sees
            unique.setdefault((os.path.abspath(finding.place.path), *finding.sort_key()[1:]), finding)
    unneeded = [finding for key, finding in idle if key not in used]
    outcome.findings = sorted([*unique.values(), *unneeded], key=Finding.sort_key)


def check_source(source: tuple[str, bytes], todo: Work) -> FileResult:
    """The findings in one file; what goes wrong is told in ``crash``."""
    path, data = source
    try:
        return _check(path, data, todo)
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
    result = FileResult(path, counts=counts)
    texts = _Texts(path, report.lines)
    own = texts.of(path)
    off = [k for k in report.kernels if own.covers_kernel(k)]
    on = [k for k in report.kernels if not own.covers_kernel(k)] if off else report.kernels
    for kernel in off:
        silenced = sum(_wanted(f, todo) for f in run_rules([kernel], [], rules))
        own.covers_kernel(kernel, of_use=silenced > 0)
        counts.suppressed += silenced
    for finding in run_rules(on, report.errors, rules):
        if not _wanted(finding, todo) or not _is_touched(finding, report, todo):
            continue
        comments = texts.of(finding.place.path)
        if comments.covers(finding):
            counts.suppressed += 1
        else:
            result.findings.append(_without_site(_framed(finding, comments) if todo.frames else finding))
    result.used = texts.used()
    result.idle = _idle_comments(own, rules, todo)
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
    spans = [(k.path, k.line, k.end_line) for k in report.kernels if k.name == finding.kernel]
    spans.append((place.path, place.line, max(place.line, place.end_line)))
    return any(todo.changes.touch(*span) for span in spans)


def _framed(finding: Finding, comments: Suppressions) -> Finding:
    """The finding with its source lines and the steps by which its address came to be."""
    source = Source(comments.path, comments.lines)
    trail = [(s.place, s.role) for s in source.steps(finding.place)] if finding.access else []
    numbers = {finding.place.line, *(p.line for p, _ in trail)}
    lines = {n: source.lines[n - 1] for n in numbers if 0 < n <= len(source.lines)}
    return replace(finding, trail=trail, lines=lines)


def _idle_comments(own: Suppressions, rules: Sequence[Rule], todo: Work) -> list[tuple[Key, Finding]]:
    """What the rules say of the comments in a file, each unless it silenced something in this run."""
    found = []
    every = all_rules()
    usual = [r.code for r in every if r.default]
    for key, place, said in own.unused(todo.codes, [r.code for r in every], usual):
        for rule in rules:
            for finding in rule.check_comment(place, said):
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
            lines: list[str] = []
            if isinstance(data, bytes):
                with contextlib.suppress(files.DecodeError):
                    lines = files.decode(data).split("\n")
            self._known[path] = Suppressions(path, lines)
        return self._known[path]

    def used(self) -> set[Key]:
        return {key for comments in self._known.values() for key in comments.used}


def default_jobs() -> int:
    """The number of processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
