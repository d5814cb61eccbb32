"""What the engine says about whole repositories: verdict counts, unknowns by reason, what was slow.

    python benchmarks/coverage.py CORPUS [NAME ...] [--jobs N] [--list REASON] [--json FILE] [--require]

CORPUS holds one folder a repository; NAME keeps those whose name contains it. Run it before and after a
change of the engine: coverage is the share of the accesses that vary by lane and have a verdict other than
``unknown``. Times are CPU seconds, so that other work on the machine does not count. Exit code 1 if a file
crashes the engine or an unknown has a reason that is not on the list; with ``--require`` also if a bound of
``BOUNDS`` is not kept.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import resource
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

RELEVANT = re.compile(rb"jit")
LANE_VARYING = ("strided", "unknown", "gather", "parametric", "contiguous")
#: Least share of decided accesses in percent, overall and in each repository; most CPU seconds of a file, at
#: the 99th percentile and at all; most megabytes of a process.
BOUNDS = {"overall": 95.0, "repository": 90.0, "p99": 1.0, "slowest": 5.0, "memory": 1000.0}


@dataclass
class FileResult:
    """What became of one file. ``accesses``: (place, verdict, reason of an unknown)."""

    path: str
    accesses: list[tuple[str, str, str | None]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    kernels: list[tuple[float, str]] = field(default_factory=list)  #: (CPU seconds, place and name)
    crash: str | None = None
    seconds: float = 0.0
    megabytes: float = 0.0  #: the most that the process held until then


def one_file(path: str) -> FileResult:
    from coalesce_lint import engine

    out = FileResult(path)
    read_kernel = engine._one_kernel

    def timed(fn, *args) -> None:  # type: ignore[no-untyped-def]
        begin = time.process_time()
        read_kernel(fn, *args)
        out.kernels.append((time.process_time() - begin, f"{path}:{fn.line} {fn.name}"))

    engine._one_kernel = timed
    start = time.process_time()
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
        report = engine.analyze_text(text, path)
        out.errors = [e.message for e in report.errors]
        for access in (a for k in report.kernels for a in k.accesses):
            at = access.place
            reason = access.reason if access.pattern == "unknown" else None
            out.accesses.append((f"{at.path}:{at.line}:{at.column + 1}", access.pattern, reason))
    except Exception:
        out.crash = traceback.format_exc()
    finally:
        engine._one_kernel = read_kernel
    out.seconds = time.process_time() - start
    out.megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return out


def reason_class(reason: str | None) -> str:
    """A reason without the name in it."""
    from coalesce_lint.reasons import reason_of

    known = reason_of(reason) if reason is not None else None
    return known.value.replace("{}", "…") if known is not None else f"NOT ON THE LIST: {reason}"


def share(counts: Counter[str]) -> float:
    """The decided accesses among those that vary by lane, in percent."""
    varying = sum(counts[p] for p in LANE_VARYING)
    return 100 * (1 - counts["unknown"] / varying) if varying else 100.0


@dataclass
class Repository:
    """The results of one repository put together."""

    name: str
    results: list[FileResult]
    counts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    example: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for result in self.results:
            for place, pattern, reason in result.accesses:
                self.counts[pattern] += 1
                if pattern == "unknown":
                    name = reason_class(reason)
                    self.reasons[name] += 1
                    self.example.setdefault(name, f"{place} {reason}")

    @property
    def kernels(self) -> list[tuple[float, str]]:
        return sorted((k for r in self.results for k in r.kernels), reverse=True)

    def show(self, listed: str | None) -> None:
        for r in self.results:
            if r.crash:
                print("CRASH", r.path, r.crash.splitlines()[-1])
                print("   ", "\n    ".join(r.crash.splitlines()[-5:-1]))
            for message in r.errors:
                print("error", r.path, message)
            for place, _, reason in r.accesses:
                if listed and reason and listed in reason:
                    print(f"  {place} {reason}")
        seconds = sum(r.seconds for r in self.results)
        print(
            f"{self.name}: {len(self.results)} files, {len(self.kernels)} kernels, {dict(self.counts)}; "
            f"decided {share(self.counts):.1f}%; {seconds:.1f} s"
        )
        for reason, count in self.reasons.most_common(10):
            print(f"    {count:5d} {reason}   e.g. {self.example[reason]}")
        for taken, kernel in self.kernels[:3]:
            print(f"    {taken:5.2f} s {kernel}", flush=True)


def show_all(repositories: list[Repository]) -> list[str]:
    """Prints the totals; returns the bounds that are not kept."""
    total = sum((r.counts for r in repositories), Counter[str]())
    files = sorted((f for r in repositories for f in r.results), key=lambda f: -f.seconds)
    varying = sum(total[p] for p in LANE_VARYING)
    print(f"all: {dict(total)}; decided {share(total):.1f}% of {varying} lane-varying")
    p99 = files[len(files) // 100].seconds if files else 0.0
    memory = max((f.megabytes for f in files), default=0.0)
    slowest = files[0].seconds if files else 0.0
    print(f"p99 of {len(files)} files {p99:.2f} s CPU; peak memory {memory:.0f} MB; slowest files:")
    for f in files[:10]:
        print(f"    {f.seconds:.2f} s {f.path}")
    broken = [
        f"decided in {r.name}: {share(r.counts):.1f}%"
        for r in repositories
        if share(r.counts) < BOUNDS["repository"]
    ]
    if share(total) < BOUNDS["overall"]:
        broken.append(f"decided overall: {share(total):.1f}%")
    measured = {"p99": p99, "slowest": slowest, "memory": memory}
    return broken + [f"{name}: {value:.2f}" for name, value in measured.items() if value >= BOUNDS[name]]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", help="print the places of unknowns whose reason contains this")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--limit", type=int, default=0, help="at most about so many files a repository")
    parser.add_argument("--require", action="store_true", help="exit code 1 if a bound is not kept")
    args = parser.parse_args()
    repositories = []
    for folder in sorted(p for p in args.corpus.iterdir() if p.is_dir()):
        if args.names and not any(n in folder.name for n in args.names):
            continue
        paths = [p for p in sorted(folder.rglob("*.py")) if p.is_file() and RELEVANT.search(p.read_bytes())]
        if args.limit:
            paths = paths[:: max(1, len(paths) // args.limit)]
        with multiprocessing.Pool(args.jobs) as pool:
            results = pool.map(one_file, [str(p) for p in paths], chunksize=4)
        repositories.append(Repository(folder.name, results))
        repositories[-1].show(args.list)
    broken = show_all(repositories)
    for text in broken:
        print("not kept:", text)
    if args.json:
        told = {
            r.name: {
                "files": len(r.results),
                "kernels": len(r.kernels),
                **r.counts,
                "decided": round(share(r.counts), 2),
                "reasons": dict(r.reasons.most_common(10)),
            }
            for r in repositories
        }
        args.json.write_text(json.dumps(told, indent=1))
    wrong = any(f.crash for r in repositories for f in r.results) or any(
        name.startswith("NOT ON THE LIST") for r in repositories for name in r.reasons
    )
    return 1 if wrong or (args.require and broken) else 0


if __name__ == "__main__":
    sys.exit(main())
