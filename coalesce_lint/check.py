"""The run of ``check``: files in, findings and counts out. The engine is loaded once it is needed."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from coalesce_lint import collector, consulted, files
from coalesce_lint.analysis import analyze, load_all, load_engine
from coalesce_lint.check_file import Counts, FileResult, Work, check_source
from coalesce_lint.findings import Finding
from coalesce_lint.launches.candidates import kernel_names, may_launch_one_of
from coalesce_lint.suppress import Key

if TYPE_CHECKING:
    from coalesce_lint.assume import Assumptions
    from coalesce_lint.launches.index import LaunchIndex
    from coalesce_lint.result_cache import ResultCache

__all__ = ["Counts", "FileResult", "Outcome", "Work", "analyze", "check_paths", "check_source", "load_engine"]

#: From so many files with kernels on, worker processes are started.
PARALLEL_FROM = 4

#: Told how many of how many files are done.
Progress = Callable[[int, int], None]


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


@collector.between_files()
def check_paths(
    items: Iterable[str | files.Problem],
    todo: Work,
    jobs: int,
    stdin: tuple[str, bytes | files.Problem] | None = None,
    cache: Callable[[], ResultCache] | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Checks the files of ``items`` and ``stdin`` (name, content) in up to ``jobs`` processes.

    ``cache`` opens the results of earlier runs; it is called where there is a file that may hold kernels.
    """
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
        opened = cache() if cache is not None else None
        _join(_results(sources, hosts, todo, jobs, opened, progress), outcome)
        if opened is not None:
            opened.close()
    return outcome


def _results(
    sources: Sequence[tuple[str, bytes]],
    hosts: Sequence[tuple[str, bytes]],
    todo: Work,
    jobs: int,
    cache: ResultCache | None,
    progress: Progress | None,
) -> list[FileResult]:
    """What comes of each of ``sources``, from the cache where it knows."""
    kernels = kernel_names(data for _, data in sources)
    find = functools.partial(find_launches, hosts, todo.roots, todo.assumptions, kernels, jobs)
    if cache is None:
        launches = find()
        return _analyzed(sources, replace(todo, launches=launches), jobs, progress) + _unread(launches)
    digests = cache.launches(hosts, kernels)
    index: LaunchIndex | None = None
    if digests is None:
        with consulted.recording() as answers:
            index = find()
        digests = _launch_digests(index)
        if not index.failures:
            cache.keep_launches(hosts, kernels, digests, answers)
    launched = [digests.get(os.path.abspath(name), "") for name, _ in sources]
    known = [cache.result(*source, digest) for source, digest in zip(sources, launched, strict=True)]
    missing = [i for i, result in enumerate(known) if result is None]
    if missing:
        if index is None:
            index = find()
            digests = _launch_digests(index)
            launched = [digests.get(os.path.abspath(name), "") for name, _ in sources]
        found = _analyzed([sources[i] for i in missing], replace(todo, launches=index), jobs, progress)
        for i, result in zip(missing, found, strict=True):
            cache.keep(sources[i][1], launched[i], result)
            known[i] = result
    return [result for result in known if result is not None] + (_unread(index) if index is not None else [])


def _unread(index: LaunchIndex) -> list[FileResult]:
    """What is told of host files whose launches could not be read."""
    return [FileResult(path, crash=why) for path, why in index.failures.items()]


def _launch_digests(index: LaunchIndex) -> dict[str, str]:
    """The digest of the launches of each file's kernels, by the file's absolute path."""
    from coalesce_lint.records import plain
    from coalesce_lint.result_cache import fingerprint

    by_path: dict[str, dict[str, object]] = {}
    for (path, kernel), launches in index.launches.items():
        try:
            by_path.setdefault(path, {})[kernel] = plain(launches)
        except TypeError:  # a value that cannot be compared: never the same in another set of files
            by_path.setdefault(path, {})[kernel] = os.urandom(16).hex()
    return {path: fingerprint(found) for path, found in by_path.items()}


def find_launches(
    hosts: Iterable[tuple[str, bytes]],
    roots: Sequence[Path],
    assumptions: Assumptions | None,
    kernels: frozenset[str],
    jobs: int = 1,
) -> LaunchIndex:
    """The launches of ``kernels`` (names) in the files of ``hosts`` (name, content); text that cannot be
    decoded holds none.
    """
    from coalesce_lint.launches import index

    texts = []
    may_launch = may_launch_one_of(kernels)
    for name, data in hosts:
        if not may_launch(data):
            continue
        with contextlib.suppress(files.DecodeError):
            texts.append((name, files.decode(data)))
    return index.build(texts, roots, assumptions is None or assumptions.innermost, jobs)


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


def _analyzed(
    sources: Sequence[tuple[str, bytes]], todo: Work, jobs: int, progress: Progress | None = None
) -> list[FileResult]:
    """What comes of ``sources``, all of which may hold kernels, computed anew."""
    collector.settle()
    work = functools.partial(check_source, todo=todo)
    results: list[FileResult] = []
    if jobs > 1 and len(sources) >= PARALLEL_FROM:
        from coalesce_lint import pool

        load_all()
        answers = pool.run(work, sources, jobs, progress=progress, size=lambda source: len(source[1]))
        for source, answer in zip(sources, answers, strict=True):
            known = isinstance(answer, FileResult)
            results.append(answer if known else FileResult(source[0], crash=answer))
        return results
    for done, source in enumerate(sources, 1):
        results.append(work(source))
        if progress is not None:
            progress(done, len(sources))
    return results


def _join(results: Iterable[FileResult], outcome: Outcome) -> None:
    """Adds ``results`` to ``outcome``."""
    unique: dict[tuple[object, ...], Finding] = {}
    used: set[Key] = set()
    idle: list[tuple[Key, Finding]] = []
    broken: dict[str, files.Problem] = {}
    for result in results:
        for code, why in result.broken.items():
            told = f"internal error: the rule {code} {why}; what it would find is missing"
            broken.setdefault(code, files.Problem(result.path, told))
        used |= result.used
        idle += result.idle
        outcome.counts.add(result.counts)
        if result.crash:
            outcome.problems.append(files.Problem(result.path, result.crash))
        for finding in result.findings:
            # a helper is reached from several files, under a path that each of them sees
            unique.setdefault((os.path.abspath(finding.place.path), *finding.sort_key()[1:]), finding)
    outcome.problems += broken.values()
    unneeded = [finding for key, finding in idle if key not in used]
    outcome.findings = sorted([*unique.values(), *unneeded], key=Finding.sort_key)


def default_jobs() -> int:
    """The number of processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
