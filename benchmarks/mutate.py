"""Breaks the analyzer in one place after another and sees whether the quick tests notice.

    python benchmarks/mutate.py [NAME ...] [--kernels N] [--list]

Each mutant of ``mutants`` is made in a temporary copy, never in the tree. The quick tests are those of the
fixtures, the saved kernels, and N generated kernels; what the unbroken copy says is the measure. NAME keeps
the mutants whose name contains it. Prints what noticed each; exit code 1 if a mutant survives, 2 if one could
not be made because the source has changed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("coalesce_lint", "rules", "tests", "fixtures", "benchmarks", "pyproject.toml", "README.md")
QUICK = ("tests/test_algebra.py", "tests/test_fixtures.py", "tests/test_reasons.py")
#: CPU seconds for the quick tests: a mutant that makes the analyzer hang is noticed too.
SECONDS = 300


def copy_to(folder: Path) -> None:
    """The parts of the tree that the quick tests need; the rules lie where an installed package has them."""
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        else:
            shutil.copy(source, folder / part)
    shutil.copytree(folder / "rules", folder / "coalesce_lint" / "rules")


def judged(folder: Path, kernels: int, known: list[str]) -> str | None:
    """What the quick tests on the package in ``folder`` notice first beyond ``known``; None for nothing."""
    command = [
        sys.executable,
        "benchmarks/mutate.py",
        "--judge",
        json.dumps(known),
        "--kernels",
        str(kernels),
    ]
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode == -signal.SIGXCPU:
        return "takes too long"
    lines = done.stdout.strip().splitlines()
    if done.returncode == 0:
        return None
    return lines[-1] if lines else f"exit code {done.returncode}: {done.stderr.strip()[-300:]}"


# -- inside the copy -----------------------------------------------------------------------------------------


def complaints(kernels: int, known: list[str], every: bool) -> Iterator[str]:
    """Everything the quick tests have to say, one line each, in the order in which it is found."""
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]
    from oracle.generate import generate
    from oracle.soundness import case_of, check_case

    import coalesce_lint

    assert Path(coalesce_lint.__file__).is_relative_to(ROOT), "the copy is not what is tested"
    yield from _failed_tests([text for text in known if text.startswith("tests/")], every)
    cases = {
        f"{p.stem}, seed {seed}": (lambda p=p, seed=seed: case_of(p.read_text(), seed=seed))
        for p in sorted((ROOT / "tests" / "seeds_soundness").glob("*.py"))
        for seed in range(2)
    }
    cases |= {f"generated kernel {seed}": (lambda seed=seed: generate(seed)) for seed in range(kernels)}
    for name, make in cases.items():
        for outcome in check_case(make()):
            if outcome.status == "disagree":
                yield f"{name}: {outcome.kind}"


def _failed_tests(left_out: list[str], every: bool) -> list[str]:
    import pytest

    failed: list[str] = []

    class Listener:
        @staticmethod
        def pytest_runtest_logreport(report: pytest.TestReport) -> None:
            if report.failed:
                failed.append(report.nodeid)

        @staticmethod
        def pytest_collectreport(report: pytest.CollectReport) -> None:
            if report.failed:
                failed.append(report.nodeid)

    tests = [t for t in QUICK if (ROOT / t).exists()]
    with open(os.devnull, "w") as nowhere:
        kept, sys.stdout = sys.stdout, nowhere
        try:
            pytest.main(
                ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests], plugins=[Listener()]
            )
        finally:
            sys.stdout = kept
    return failed


def judge(kernels: int, known: list[str], every: bool) -> int:
    """Prints the first complaint that is not known (``every``: all); exit code 1 where there is one."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
    found = 0
    for text in complaints(kernels, known, every):
        if text not in known:
            print(text, flush=True)
            found = 1
            if not every:
                break
    return found


# -- the run -------------------------------------------------------------------------------------------------


def baseline(folder: Path, kernels: int) -> list[str]:
    """What the unbroken copy says: mistakes that are known and open."""
    told = subprocess.run(
        [sys.executable, "benchmarks/mutate.py", "--judge", "[]", "--every", "--kernels", str(kernels)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    if told.stderr.strip() and told.returncode not in (0, 1):
        print(told.stderr, file=sys.stderr)
        raise SystemExit(2)
    return told.stdout.splitlines()


def with_copy(use: Callable[[Path], int]) -> int:
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        folder = Path(name)
        copy_to(folder)
        return use(folder)


def run(folder: Path, names: list[str], kernels: int) -> int:
    from mutants import MUTANTS

    chosen = [m for m in MUTANTS if not names or any(n in m.name for n in names)]
    known = baseline(folder, kernels)
    for text in known:
        print(f"left out, the unbroken copy fails it: {text}")
    print(f"{len(chosen)} mutants; open mistakes of the unbroken copy: {len(known)}", flush=True)
    survivors, unmade = [], []
    for mutant in chosen:
        file = folder / "coalesce_lint" / mutant.file
        source = file.read_text()
        if source.count(mutant.old) != 1:
            unmade.append(mutant.name)
            print(
                f"NOT MADE  {mutant.name}: {mutant.file} holds the piece {source.count(mutant.old)} times",
                flush=True,
            )
            continue
        start = time.monotonic()
        file.write_text(source.replace(mutant.old, mutant.new))
        try:
            noticed = judged(folder, kernels, known)
        finally:
            file.write_text(source)
        took = time.monotonic() - start
        print(
            f"{'killed  ' if noticed else 'SURVIVES'}  {mutant.name}  ({took:.0f} s)  {noticed or ''}",
            flush=True,
        )
        if noticed is None:
            survivors.append(mutant.name)
    killed = len(chosen) - len(survivors) - len(unmade)
    print(f"{killed} of {len(chosen)} mutants killed, {len(survivors)} survive, {len(unmade)} not made")
    for name in survivors:
        print("survives:", name)
    return 2 if unmade else 1 if survivors else 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*")
    parser.add_argument("--kernels", type=int, default=300, help="generated kernels for each mutant")
    parser.add_argument("--list", action="store_true", help="print the names of the mutants")
    parser.add_argument("--judge", help=argparse.SUPPRESS)
    parser.add_argument("--every", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.judge is not None:
        return judge(options.kernels, json.loads(options.judge), options.every)
    if options.list:
        from mutants import MUTANTS

        print("\n".join(m.name for m in MUTANTS))
        return 0
    return with_copy(lambda folder: run(folder, options.names, options.kernels))


if __name__ == "__main__":
    sys.exit(main())
