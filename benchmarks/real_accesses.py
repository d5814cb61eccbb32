"""Verdicts on real kernels against plain-integer evaluation of their source.

    python benchmarks/real_accesses.py CORPUS_DIR --count 500 --seed 0 [--jobs 2]

CORPUS_DIR holds one folder a repository. Repositories take turns; of each file drawn a few tile accesses are
judged. Their kernels are executed with guessed arguments, and the verdicts are held against the addresses.
What could not be run is skipped with the reason. Exit code 1 if anything disagrees.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]

from oracle.claims import Claim, Run  # noqa: E402
from oracle.compare import compare  # noqa: E402
from oracle.dtypes import OracleUnsupported  # noqa: E402
from oracle.execute import Launch, launch  # noqa: E402
from oracle.guess import guesses  # noqa: E402
from oracle.modules import Loader  # noqa: E402

TRIES = 48
WANTED_RUNS = 5
LAUNCH = Launch(programs=((0, 0, 0), (2, 1, 1)), grid=(8, 4, 2))


@dataclass
class Drawn:
    """What became of the accesses drawn from one file."""

    rows: list[tuple[str, str, str, str]] = field(default_factory=list)  #: (status, pattern, kind, text)
    skipped: Counter[str] = field(default_factory=Counter)


class TooSlow(Exception):
    """A file or kernel that takes too long."""


def _alarm(*_args: Any) -> None:
    raise TooSlow


def claims_by_kernel(path: Path, text: str) -> dict[str, list[Claim]]:
    """Every verdict on the accesses of a file, by kernel."""
    from coalesce_lint.engine import analyze_text

    report = analyze_text(text, str(path))
    return {k.name: [a.as_dict() for a in k.accesses] for k in report.kernels}


def observe(path: Path, kernel: str, text: str, seed: int) -> tuple[list[Run], str]:
    """Some runs of a kernel with guessed arguments, else the commonest reason why there are none."""
    module = Loader().load(str(path))
    if kernel not in module.functions:
        return [], "kernel not found by the evaluator"
    runs: list[Run] = []
    reasons: Counter[str] = Counter()
    for arguments in guesses(module, kernel, text, TRIES, seed):
        signal.setitimer(signal.ITIMER_REAL, 3)
        try:
            one = launch(module.functions[kernel], arguments, LAUNCH)
            two = launch(module.functions[kernel], arguments, Launch(LAUNCH.programs, LAUNCH.grid, seed=7))
            runs.append(Run(arguments, one, two))
        except OracleUnsupported as error:
            reasons[str(error)[:70]] += 1
        except (TooSlow, RecursionError):
            reasons["too slow"] += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if len(runs) >= WANTED_RUNS or reasons["too slow"] > 2:
            break
    return runs, reasons.most_common(1)[0][0] if reasons else ""


def judge_file(path: Path, seed: int, most: int) -> Drawn:
    """Draws up to ``most`` tile accesses of a file and judges them."""
    rng = random.Random(f"{path.name}{seed}")
    drawn = Drawn()
    text = path.read_text(errors="replace")
    signal.signal(signal.SIGALRM, _alarm)
    signal.setitimer(signal.ITIMER_REAL, 60)
    try:
        kernels = claims_by_kernel(path, text)
    except TooSlow:
        drawn.skipped["the analyzer takes more than 60 s"] += 1
        return drawn
    except Exception as error:
        drawn.rows.append(("disagree", "none", "crash", f"{path}: {type(error).__name__}: {error}"))
        return drawn
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    pool = [(name, k) for name, claims in kernels.items() for k, c in enumerate(claims) if c["axes"]]
    chosen = rng.sample(pool, min(most, len(pool)))
    for name in {n for n, _ in chosen}:
        runs, reason = observe(path, name, text, seed)
        mine = [k for n, k in chosen if n == name]
        if not runs:
            drawn.skipped[reason or "no run"] += len(mine)
            continue
        outcomes = compare(kernels[name], runs)
        for k in mine:
            o, c = outcomes[k], kernels[name][k]
            if o.status == "not executed":
                drawn.skipped["not reached with the guessed arguments"] += 1
                continue
            shown = {
                n: c.get(n)
                for n in ("pattern", "lane_axis", "lane_stride", "condition", "notes", "axes", "offset")
            }
            where = f"{c['path']}:{c['line']}:{c['column'] + 1} in {name}"
            drawn.rows.append((o.status, c["pattern"], o.kind, f"{where}\n    {shown}\n    {o.detail}"))
    return drawn


def files_in_turn(corpus: Path, seed: int) -> list[Path]:
    """Files with kernels, repository after repository, so that a large one does not drown the others."""
    rng = random.Random(seed)
    by_repository: list[list[Path]] = []
    for folder in sorted(p for p in corpus.iterdir() if p.is_dir()):
        files = [f for f in sorted(folder.rglob("*.py")) if _has_kernels(f)]
        rng.shuffle(files)
        if files:
            by_repository.append(files)
    order = []
    while by_repository:
        by_repository = [files for files in by_repository if files]
        order += [files.pop() for files in by_repository]
    return order


def _has_kernels(path: Path) -> bool:
    try:
        text = path.read_bytes()
    except OSError:
        return False
    return b"jit" in text and (b"tl.load" in text or b"tl.store" in text or b".load(" in text)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--count", type=int, default=500, help="accesses to judge")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--most", type=int, default=3, help="accesses drawn of one file")
    options = parser.parse_args()

    rows: list[tuple[str, str, str, str]] = []
    skipped: Counter[str] = Counter()
    files = iter(files_in_turn(options.corpus, options.seed))
    reported = 0
    with ProcessPoolExecutor(options.jobs) as pool:
        pending = {
            pool.submit(judge_file, f, options.seed, options.most) for f in _take(files, 4 * options.jobs)
        }
        while pending:
            done = next(as_completed(pending))
            pending.discard(done)
            rows += done.result().rows
            skipped += done.result().skipped
            if len(rows) // 50 > reported:
                reported = len(rows) // 50
                wrong = sum(r[0] == "disagree" for r in rows)
                print(
                    f"... {len(rows)} judged, {wrong} disagree, {sum(skipped.values())} skipped", flush=True
                )
            if len(rows) < options.count:
                pending |= {pool.submit(judge_file, f, options.seed, options.most) for f in _take(files, 1)}
    counts = Counter((pattern, status, kind) for status, pattern, kind, _ in rows)
    print(f"{len(rows)} accesses judged, {sum(skipped.values())} skipped")
    for (pattern, status, kind), n in sorted(counts.items()):
        print(f"{pattern:12} {status:12} {kind:20} {n}")
    for reason, n in skipped.most_common(25):
        print(f"skipped {n:4}: {reason}")
    wrong = [r for r in rows if r[0] == "disagree"]
    for _status, pattern, kind, text in sorted(wrong, key=lambda r: (r[2], r[1])):
        print(f"\n== {kind} (claimed {pattern}): {text}")
    return 1 if wrong else 0


def _take(files: Any, count: int) -> list[Path]:
    return [f for _, f in zip(range(count), files, strict=False)]


if __name__ == "__main__":
    sys.exit(main())
