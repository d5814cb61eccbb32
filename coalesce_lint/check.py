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

from coalesce_lint import files, suppress
from coalesce_lint.analysis import analyze, describe, load_engine
from coalesce_lint.findings import Finding, all_rules, run_rules

if TYPE_CHECKING:
    from coalesce_lint.assume import Assumptions
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
        _number(counts.files, "file") + f" ({counts.parsed} parsed)",
        _number(counts.kernels, "kernel"),
        _number(counts.accesses, "access"),
        f"{counts.unknown} unknown",
        _number(len(outcome.findings), "finding"),
    ]
    if counts.suppressed:
        parts[-1] += f" ({counts.suppressed} suppressed)"
    return ", ".join(parts)


def _number(number: int, noun: str) -> str:
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
    for result in results:
        outcome.counts.add(result.counts)
        if result.crash:
            outcome.problems.append(files.Problem(result.path, result.crash))
        for finding in result.findings:
            # a helper is reached from several files, under a path that each of them sees
            unique.setdefault((os.path.abspath(finding.place.path), *finding.sort_key()[1:]), finding)
    outcome.findings = sorted(unique.values(), key=Finding.sort_key)


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
    texts = _Texts(path, report.lines)
    findings = []
    for finding in run_rules(report.kernels, report.errors, rules):
        if finding.optional and finding.code not in todo.asked:
            continue
        if todo.per_file is not None and todo.per_file.ignores(finding.place.path, finding.code):
            continue
        if suppress.is_suppressed(finding, texts.of(finding.place.path)):
            counts.suppressed += 1
        else:
            findings.append(_without_site(finding))
    return FileResult(path, findings, counts)


def _without_site(finding: Finding) -> Finding:
    """The finding without the expression graphs behind its access: large, and of no use to a reader."""
    if finding.access is None or finding.access.site is None:
        return finding
    return replace(finding, access=replace(finding.access, site=None))


class _Texts:
    """Lines by path: of the file at hand, and of the files that hold the helpers it calls."""

    def __init__(self, path: str, lines: list[str]) -> None:
        self._known = {path: lines}

    def of(self, path: str) -> list[str]:
        if path not in self._known:
            data = files.read_bytes(path)
            try:
                self._known[path] = files.decode(data).split("\n") if isinstance(data, bytes) else []
            except files.DecodeError:
                self._known[path] = []
        return self._known[path]


def default_jobs() -> int:
    """The number of processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
