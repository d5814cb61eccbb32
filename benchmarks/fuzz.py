"""The long run of the soundness test: random kernels, verdicts against plain-integer evaluation.

    python benchmarks/fuzz.py --count 100000 --seed 0 --jobs 2 [--interpreter 10000] [--save]

Prints a table of outcomes by pattern, then each kind of mistake with one shrunk kernel. ``--interpreter M``
first checks the evaluator itself on M of the kernels against Triton's interpreter. ``--save`` writes shrunk
kernels to ``tests/seeds_soundness``, where the test suite runs them again. Exit code 1 if anything disagrees.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]

from oracle import interpreter  # noqa: E402
from oracle.generate import Case, generate  # noqa: E402
from oracle.shrink import shrink  # noqa: E402
from oracle.soundness import check_case  # noqa: E402

warnings.simplefilter("ignore", SyntaxWarning)  # a shrunk kernel may call or index a number
CHUNK = 50
LIMIT = 30  #: CPU seconds for one kernel: to explain the jumps of some tiles takes the oracle minutes
Mistake = tuple[str, str, str]  #: kind, pattern, notes


class TooLong(BaseException):
    """A kernel took its share of time; no error that the oracle or the engine may catch."""


def _too_long(*_: object) -> None:
    raise TooLong


def check_seeds(seeds: range) -> tuple[Counter[tuple[str, str, str]], list[tuple[int, Mistake, str]]]:
    """Outcomes of some seeds: counts of (pattern, status, kind), and the disagreements."""
    counts: Counter[tuple[str, str, str]] = Counter()
    mistakes = []
    signal.signal(signal.SIGVTALRM, _too_long)
    for seed in seeds:
        signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT)
        try:
            outcomes = check_case(generate(seed))
        except TooLong:
            counts["none", "not judged", f"took over {LIMIT} s (seed {seed})"] += 1
            continue
        except Exception as error:  # the generator's or the oracle's fault; must be seen, not lost
            counts["none", "oracle failed", type(error).__name__] += 1
            mistakes.append((seed, ("oracle failed", "none", ""), f"{type(error).__name__}: {error}"))
            continue
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        for o in outcomes:
            told = o.detail[:60] if o.kind == "unknown" else ""
            counts[o.claim["pattern"], o.status, told or o.kind] += 1
            if o.status == "disagree":
                mistakes.append((seed, mistake_of(o.kind, o.claim), o.detail))
    return counts, mistakes


def mistake_of(kind: str, claim: dict) -> Mistake:
    notes = sorted({n.split("=")[0].split("(")[0] for n in claim.get("notes", [])})
    return kind, claim["pattern"], " ".join(notes)


def chunks(start: int, count: int) -> Iterator[range]:
    for first in range(start, start + count, CHUNK):
        yield range(first, min(first + CHUNK, start + count))


def shrunk(seed: int, mistake: Mistake) -> tuple[Case, str]:
    """The smallest kernel with the same kind of mistake, and what is wrong there."""

    def same(case: Case) -> str | None:
        try:
            for o in check_case(case, count=12):
                if o.status == "disagree" and mistake_of(o.kind, o.claim) == mistake:
                    shown = {
                        k: o.claim.get(k)
                        for k in ("pattern", "lane_axis", "lane_stride", "condition", "notes")
                    }
                    return f"claimed {shown}: {o.detail}"
        except Exception:
            return None
        return None

    case = shrink(generate(seed), lambda c: same(c) is not None)
    return case, same(case) or ""


def check_interpreter(start: int, count: int) -> int:
    """Kernels whose addresses differ between the evaluator and Triton's interpreter."""
    different = 0
    tried, failed = 0, Counter[str]()
    for seeds in (range(s, min(s + 200, start + count)) for s in range(start, start + count, 200)):
        result = interpreter.differences([generate(s) for s in seeds])
        tried += len(seeds)
        failed.update(result.errors)
        for seed, text in result.different:
            different += 1
            print(f"seed {seed}: the interpreter touches other addresses: {text}")
    print(
        f"interpreter: {tried} kernels, {different} different, not run by it: {dict(failed) or 0}", flush=True
    )
    return different


def save(case: Case, mistake: Mistake, seed: int) -> Path:
    name = "_".join([mistake[0].replace(" ", "_"), mistake[1], str(seed)])
    path = ROOT / "tests" / "seeds_soundness" / f"{name}.py"
    head = f'# ruff: noqa\n"""Once: {mistake[0]}, claimed {mistake[1]} (generator seed {seed})."""'
    path.write_text(f"{head}\n\n{case.text}\n")
    return path


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--interpreter", type=int, default=0, metavar="M")
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--examples", type=int, default=1, help="shrunk kernels to show of each kind")
    options = parser.parse_args()

    start = time.perf_counter()
    different = check_interpreter(options.seed, options.interpreter) if options.interpreter else 0
    counts: Counter[tuple[str, str, str]] = Counter()
    mistakes: list[tuple[int, Mistake, str]] = []
    with ProcessPoolExecutor(options.jobs) as pool:
        for number, (some, wrong) in enumerate(pool.map(check_seeds, chunks(options.seed, options.count))):
            counts += some
            mistakes += wrong
            for seed, (kind, pattern, notes), _ in wrong:
                print(f"seed {seed}: {kind} (claimed {pattern}, notes: {notes or 'none'})", flush=True)
            if number % 40 == 39:
                print(f"... {(number + 1) * CHUNK} kernels, {len(mistakes)} disagreements", flush=True)
    print(f"{options.count} kernels, {sum(counts.values())} accesses, {time.perf_counter() - start:.0f} s")
    for (pattern, status, kind), n in sorted(counts.items()):
        print(f"{pattern:12} {status:14} {kind:60} {n}")
    by_kind: dict[Mistake, list[tuple[int, str]]] = {}
    for seed, mistake, detail in mistakes:
        by_kind.setdefault(mistake, []).append((seed, detail))
    for mistake, places in sorted(by_kind.items(), key=lambda item: -len(item[1])):
        print(f"\n== {len(places)} x {mistake[0]} (claimed {mistake[1]}, notes: {mistake[2] or 'none'})")
        for seed, detail in places[: options.examples]:
            if mistake[0] == "oracle failed":
                print(f"seed {seed}: {detail}")
                continue
            case, told = shrunk(seed, mistake)
            print(f"seed {seed}: {told or detail}\n{case.text}")
            if options.save:
                print(f"saved as {save(case, mistake, seed)}")
    return 1 if mistakes or different else 0


if __name__ == "__main__":
    sys.exit(main())
