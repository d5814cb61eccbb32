"""Verdicts on real kernels against plain-integer evaluation of their source.

    python benchmarks/real_accesses.py CORPUS --count 500 --seed 0 [--jobs 2] [--log FILE]

CORPUS holds one folder a repository. Files are drawn at random, the repositories taking turns; of each file a
few accesses that vary by lane are drawn, and held against the addresses that their kernels touch with guessed
arguments (small, odd and plain ones, a stride of 1 among them) until COUNT were truly compared. Prints what
was drawn, compared and not, by repository and by reason. ``--log`` writes a line for each access, and a run
that was broken off goes on from it with ``--resume``. One seed gives one draw, whatever the number of jobs.
Exit code 1 if a verdict is refuted or too few could be compared.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import resource
import signal
import sys
from collections import Counter
from collections.abc import Iterator
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

TRIES = 60
WANTED_RUNS = 6
#: CPU seconds for one run of a kernel, and for all runs of one kernel.
RUN_SECONDS, KERNEL_SECONDS = 2.0, 12.0
#: Bytes of address space for a worker: guessed arguments may ask for huge tiles.
MEMORY = 6 << 30
LAUNCHES = (
    Launch(programs=((0, 0, 0), (2, 1, 1)), grid=(8, 4, 2)),
    Launch(programs=((1, 0, 0), (0, 1, 0)), grid=(4, 2, 1)),
)
COMPARED = ("agree", "disagree")


@dataclass
class Judged:
    """One access that was drawn. ``status``: agree, disagree, undecided, or skipped with the reason."""

    repository: str
    place: str
    pattern: str
    status: str
    kind: str = ""
    detail: str = ""


@dataclass
class Task:
    path: Path
    repository: str
    seed: int
    most: int


@dataclass
class Runs:
    """Runs of one kernel, and the reasons why other tries made none."""

    made: list[Run] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)

    @property
    def reason(self) -> str:
        return self.refused.most_common(1)[0][0] if self.refused else "no run"


class TooSlow(Exception):
    """A file or kernel that takes too long."""


def _alarm(*_args: Any) -> None:
    raise TooSlow


def _limit(seconds: float) -> None:
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)


def claims_by_kernel(path: Path, text: str) -> dict[str, list[Claim]]:
    """Every verdict on the accesses of a file, by kernel."""
    from coalesce_lint.engine import analyze_text

    report = analyze_text(text, str(path))
    return {k.name: [a.as_dict() for a in k.accesses] for k in report.kernels}


def observe(path: Path, kernel: str, text: str, seed: int) -> Runs:
    """Some runs of a kernel with guessed arguments."""
    runs = Runs()
    try:
        module = Loader().load(str(path))
    except (OracleUnsupported, RecursionError, SyntaxError) as error:
        runs.refused[f"the file cannot be loaded: {error}"[:70]] += 1
        return runs
    function = module.functions.get(kernel)
    if function is None:
        runs.refused["kernel not found by the evaluator"] += 1
        return runs
    spent = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    for number, arguments in enumerate(guesses(module, kernel, text, TRIES, seed)):
        how = LAUNCHES[number % len(LAUNCHES)]
        other = Launch(how.programs, how.grid, seed=7)
        _limit(RUN_SECONDS)
        try:
            runs.made.append(
                Run(arguments, launch(function, arguments, how), launch(function, arguments, other))
            )
        except OracleUnsupported as error:
            runs.refused[str(error)[:70]] += 1
        except (TooSlow, RecursionError, MemoryError):
            runs.refused["too slow"] += 1
        finally:
            _limit(0)
        taken = resource.getrusage(resource.RUSAGE_SELF).ru_utime - spent
        if len(runs.made) >= WANTED_RUNS or runs.refused["too slow"] > 2 or taken > KERNEL_SECONDS:
            break
    return runs


def judge_file(task: Task) -> list[Judged]:
    """Draws up to ``most`` lane-varying accesses of a file and judges them."""
    rng = random.Random(f"{task.path.name}{task.seed}")
    signal.signal(signal.SIGVTALRM, _alarm)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    text = task.path.read_text(errors="replace")

    def result(place: str, pattern: str, status: str, kind: str = "", detail: str = "") -> Judged:
        return Judged(task.repository, place, pattern, status, kind, detail)

    _limit(60)
    try:
        kernels = claims_by_kernel(task.path, text)
    except TooSlow:
        return [result(str(task.path), "none", "disagree", "slow", "the analyzer takes more than 60 s")]
    except Exception as error:
        return [result(str(task.path), "none", "disagree", "crash", f"{type(error).__name__}: {error}")]
    finally:
        _limit(0)
    pool = [(n, k) for n, claims in kernels.items() for k, c in enumerate(claims) if drawable(c)]
    chosen = rng.sample(pool, min(task.most, len(pool)))
    out = []
    for name in sorted({n for n, _ in chosen}):
        runs = observe(task.path, name, text, task.seed)
        outcomes = compare(kernels[name], runs.made) if runs.made else []
        for k in (k for n, k in chosen if n == name):
            claim = kernels[name][k]
            place = f"{claim['path']}:{claim['line']}:{claim['column'] + 1} in {name}"
            if not runs.made:
                out.append(result(place, claim["pattern"], "skipped", runs.reason))
            elif outcomes[k].status == "not executed":
                out.append(result(place, claim["pattern"], "skipped", "not reached with guessed arguments"))
            else:
                o = outcomes[k]
                out.append(
                    result(place, claim["pattern"], o.status, o.kind, f"{shown(claim)}\n    {o.detail}")
                )
    return out


def drawable(claim: Claim) -> bool:
    """A tile access; one that is called uniform counts too where the tile has lanes that could differ."""
    return bool(claim["axes"])


def shown(claim: Claim) -> dict[str, Any]:
    return {
        n: claim.get(n)
        for n in ("pattern", "lane_axis", "lane_stride", "condition", "notes", "axes", "offset")
    }


def tasks(corpus: Path, seed: int, most: int) -> Iterator[Task]:
    """Files with kernels, repository after repository, so that a large one does not drown the others."""
    rng = random.Random(seed)
    by_repository: dict[str, list[Path]] = {}
    for folder in sorted(p for p in corpus.iterdir() if p.is_dir()):
        files = sorted(folder.rglob("*.py"))
        rng.shuffle(files)
        by_repository[folder.name] = files
    while any(by_repository.values()):
        for name, files in by_repository.items():
            while files:
                path = files.pop()
                if has_kernels(path):
                    yield Task(path, name, seed, most)
                    break


def has_kernels(path: Path) -> bool:
    try:
        text = path.read_bytes()
    except OSError:
        return False
    return b"jit" in text and (b"tl.load" in text or b"tl.store" in text or b".load(" in text)


def report(rows: list[Judged], seed: int) -> None:
    """What was drawn and what became of it."""
    compared = [r for r in rows if r.status in COMPARED]
    agree = sum(r.status == "agree" for r in compared)
    print(
        f"seed {seed}: {len(rows)} accesses drawn, {len(compared)} compared, {agree} agree, "
        f"{len(compared) - agree} disagree"
    )
    for name in sorted({r.repository for r in rows}):
        mine = Counter(r.status for r in rows if r.repository == name)
        print(
            f"  {name:44} drawn {mine.total():4}  " + "  ".join(f"{k} {n}" for k, n in sorted(mine.items()))
        )
    for (pattern, status), n in sorted(Counter((r.pattern, r.status) for r in rows).items()):
        print(f"  {pattern:12} {status:12} {n}")
    for reason, n in Counter(r.kind for r in rows if r.status == "skipped").most_common(30):
        print(f"  not evaluated {n:4}: {reason}")
    for r in sorted((r for r in rows if r.status == "disagree"), key=lambda r: (r.kind, r.pattern)):
        print(f"\n== {r.kind} (claimed {r.pattern}): {r.place}\n    {r.detail}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--count", type=int, default=500, help="accesses to compare")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--most", type=int, default=3, help="accesses drawn of one file")
    parser.add_argument("--log", type=Path, help="a JSON line for each access drawn")
    parser.add_argument("--resume", action="store_true", help="go on from the log")
    options = parser.parse_args()

    rows: list[Judged] = []
    if options.resume and options.log and options.log.exists():
        rows = [Judged(**json.loads(line)) for line in options.log.read_text().splitlines()]
    known = {r.place.split(".py:")[0] + ".py" for r in rows}
    todo = (t for t in tasks(options.corpus, options.seed, options.most) if str(t.path) not in known)
    log = options.log.open("a" if rows else "w") if options.log else None
    compared = sum(r.status in COMPARED for r in rows)
    with multiprocessing.Pool(options.jobs, maxtasksperchild=50) as pool:
        for some in pool.imap(judge_file, todo):
            rows += some
            compared += sum(r.status in COMPARED for r in some)
            if log is not None:
                log.writelines(json.dumps(vars(r)) + "\n" for r in some)
                log.flush()
            if compared >= options.count:
                pool.terminate()
                break
    report(rows, options.seed)
    return 1 if compared < options.count or any(r.status == "disagree" for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
