"""Random kernels: every verdict is held against addresses computed with plain integers.

The evaluator (``tests/oracle``) shares no code with the analyzer and is itself checked against Triton's own
interpreter. Longer runs: ``python benchmarks/fuzz.py --count 100000``.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
if str(TESTS) not in sys.path:
    sys.path.insert(0, str(TESTS))

pytest.importorskip("numpy")
from oracle.compare import Outcome  # noqa: E402
from oracle.generate import generate, kernels  # noqa: E402
from oracle.soundness import case_of, check_case  # noqa: E402

KERNELS = 2000
BATCH = 100
INTERPRETED = 100
SEEDS = sorted((TESTS / "seeds_soundness").glob("*.py"))

needs_engine = pytest.mark.skipif(
    importlib.util.find_spec("coalesce_lint.engine") is None, reason="the engine is not there"
)


def told(text: str, outcomes: list[Outcome]) -> list[str]:
    """The disagreements as text, each with the kernel that shows it."""
    wrong = [o for o in outcomes if o.status == "disagree"]
    return [f"{o.kind} at line {o.claim['line']}: {o.detail}\n{text}" for o in wrong]


def check_batch(first: int) -> tuple[int, list[str]]:
    """(number of accesses judged, disagreements) of one batch of seeds."""
    judged, wrong = 0, []
    for seed in range(first, first + BATCH):
        case = generate(seed)
        outcomes = check_case(case)
        judged += sum(o.status == "agree" for o in outcomes)
        wrong += [f"seed {seed}: {text}" for text in told(case.text, outcomes)]
    return judged, wrong


@needs_engine
@pytest.mark.slow
def test_no_verdict_on_random_kernels_is_refuted_by_plain_integer_evaluation():
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        results = list(pool.map(check_batch, range(0, KERNELS, BATCH)))
    wrong = [text for _, some in results for text in some]
    assert not wrong, f"{len(wrong)} verdicts are wrong, the first ones:\n" + "\n".join(wrong[:5])
    # Agreement must not come from judging nothing.
    assert sum(judged for judged, _ in results) > KERNELS


@needs_engine
@pytest.mark.parametrize("path", SEEDS, ids=lambda p: p.stem)
def test_a_kernel_that_was_once_misjudged_stays_right(path: Path):
    text = path.read_text()
    wrong = [w for seed in range(3) for w in told(text, check_case(case_of(text, seed=seed)))]
    assert not wrong, wrong[0]


@needs_engine
def test_any_generated_kernel_is_judged_right():
    from hypothesis import HealthCheck, given, settings

    @settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(kernels())
    def judged_right(case):
        wrong = told(case.text, check_case(case))
        assert not wrong, wrong[0]

    judged_right()


@pytest.mark.slow
def test_the_evaluator_touches_the_addresses_that_tritons_interpreter_touches():
    pytest.importorskip("triton")
    from oracle.interpreter import differences

    found = differences([generate(seed) for seed in range(INTERPRETED)])
    assert not found.different
    # The interpreter refuses a few things that the compiler takes; nearly all launches must have run.
    assert len(found.errors) <= found.launches // 20, found.errors[:3]
