"""The static model against the compiler on real kernels.

    python benchmarks/real_costs.py CORPUS_DIR --count 150 --seed 1 [-v]

CORPUS_DIR holds one folder a repository. Kernels are drawn by chance, made to stand alone, compiled by the
installed Triton for a guessed launch, and compared access by access: axis order, elements a thread, vector
bytes, lane axis, requests, sectors. Kernels for which no guess compiles are left out, with the reason.
"""

from __future__ import annotations

import argparse
import pickle
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from real_kernels import Real, draw, launches

from coalesce_lint.access import Access
from coalesce_lint.hardware.cost import cost_of_kernel
from coalesce_lint.pins import Pins, PointerPin, installed_profile
from coalesce_lint.twin import twin_kernels
from coalesce_lint.verify.compiled import Prediction, predict
from coalesce_lint.verify.request import Request
from coalesce_lint.verify.sidebyside import Compiled, Figures, pair

GRID = (8, 4, 2)
TRIES = 4
BATCH = 40

Found = tuple[Real, dict[str, Any], Prediction, Path]


@dataclass
class Row:
    """One access of a kernel with the comparison."""

    kernel: Real
    access: Access
    compiled: Compiled


@dataclass
class Outcome:
    rows: list[Row] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    kernels: int = 0


def pins_of(arguments: dict[str, Any], arch: int) -> Pins:
    given = {
        n: PointerPin(v[1:]) if isinstance(v, str) and v.startswith("*") else v for n, v in arguments.items()
    }
    return Pins(args=given, grid=GRID, num_warps=4, triton=installed_profile(), arch=f"sm{arch}")


def predictions(kernels: list[Real], folder: Path, seed: int, arch: int) -> Iterator[Found]:
    """(kernel, arguments, prediction) of each kernel with the first guess that compiles."""
    waiting = [(k, list(launches(k, TRIES, seed))) for k in kernels]
    for number, (kernel, _) in enumerate(waiting):
        (folder / f"k{number}.py").write_text(kernel.text)
    places = {id(k): folder / f"k{n}.py" for n, (k, _) in enumerate(waiting)}
    for attempt in range(TRIES):
        left = []
        for start in range(0, len(waiting), BATCH):
            batch = [(k, g) for k, g in waiting[start : start + BATCH] if len(g) > attempt]
            asked = [
                Request(str(places[id(k)]), k.name, g[attempt], GRID, 4, arch=arch, programs=24)
                for k, g in batch
            ]
            answers = predict(asked) if asked else []
            print(f"guess {attempt + 1}: {sum(not a.error for a in answers)}/{len(answers)}", file=sys.stderr)
            for (kernel, guesses), answer in zip(batch, answers, strict=True):
                if answer.error and attempt + 1 < TRIES:
                    left.append((kernel, guesses))
                else:
                    yield kernel, guesses[attempt], answer, places[id(kernel)]
        waiting = left


def found_predictions(corpus: Path, options: argparse.Namespace, folder: Path) -> list[Found]:
    """The predictions, kept in the file of ``--answers`` and taken from it if it is there."""
    if options.answers is not None and options.answers.exists():
        found: list[Found] = pickle.loads(options.answers.read_bytes())
        return found
    kernels = draw(corpus, options.count, options.seed)
    found = []
    for one in predictions(kernels, folder, options.seed, options.arch):
        found.append(one)
        if options.answers is not None:
            options.answers.write_bytes(pickle.dumps(found))
    return found


def compare(found: Sequence[Found], arch: int) -> Outcome:
    outcome = Outcome()
    for kernel, arguments, prediction, path in found:
        if prediction.error:
            outcome.failed[re.sub(r"\s+", " ", prediction.error)[:110]] += 1
            continue
        outcome.kernels += 1
        try:
            outcome.rows += rows_of(kernel, arguments, prediction, path, arch)
        except Exception as error:  # the harness must go on and say so
            outcome.broken.append(f"{kernel.origin} {kernel.name}: {type(error).__name__}: {error}")
    return outcome


def rows_of(
    kernel: Real, arguments: dict[str, Any], prediction: Prediction, path: Path, arch: int
) -> list[Row]:
    twin, launch = twin_kernels(kernel.text, str(path), pins_of(arguments, arch), kernel.name)[0]
    cost_of_kernel(twin, launch)
    return [Row(kernel, a, c) for a, c in zip(twin.accesses, pair(twin.accesses, prediction), strict=True)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--arch", type=int, default=90)
    parser.add_argument("-v", action="store_true", help="print each access that disagrees, or has no cost")
    parser.add_argument("--answers", type=Path, help="keep the oracle's answers here, or take them from here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = found_predictions(options.corpus, options, Path(folder))
    outcome = compare(found, options.arch)
    if options.v:
        for row in outcome.rows:
            if row.compiled.status in ("differs", "no model"):
                show(row)
    report(outcome)
    return 0


def report(outcome: Outcome) -> None:
    """Prints the shares of accesses that have a cost, and of these the shares that agree."""
    status = Counter(r.compiled.status for r in outcome.rows)
    differs = Counter(d for r in outcome.rows for d in r.compiled.differs)
    for reason, number in outcome.failed.most_common(12):
        print(f"not compiled: {number} x {reason}")
    for line in outcome.broken:
        print("model failed:", line)
    judged = status["agrees"] + status["differs"]
    words = f"{outcome.kernels} kernels, {len(outcome.rows)} accesses: {dict(status)}"
    print(f"triton {version('triton')}, {words}")
    print("with a cost:", share(judged, judged + status["no model"]))
    for name in vars(Figures()):
        print(f"{name}:", share(judged - differs[name], judged))
    print("all:", share(status["agrees"], judged))


def share(part: int, whole: int) -> str:
    return f"{part}/{whole} ({100 * part / max(whole, 1):.1f}%)"


def show(row: Row) -> None:
    compiled = row.compiled
    line = row.kernel.text.splitlines()[row.access.place.line - 1].strip()
    print(f"--- {row.kernel.origin} {row.kernel.name}: {row.access.op} {line[:150]}")
    words = "; addresses depend on data" if compiled.data_dependent else ""
    print(f"    {compiled.status} {compiled.differs}{words}")
    print(f"    model    {vars(compiled.model)}")
    print(f"    compiled {vars(compiled.compiler)}")


if __name__ == "__main__":
    sys.exit(main())
