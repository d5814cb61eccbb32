"""The path of ``verify`` that needs a GPU, with Triton's interpreter in its place (``emulated_gpu.py``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("triton")
pytest.importorskip("torch")

from support import ROOT

from coalesce_lint.verify import measuring, report, session, tuning, verification
from coalesce_lint.verify.session import Progress, Session, Settings, cleaned

pytestmark = pytest.mark.slow

WALKS = ROOT / "tests" / "verify_kernels" / "walks.py"
EMULATED = "emulated_gpu"
NAMES = ("tuned_blocks", "tuned_scale", "half_covered", "plus_transposed")


@pytest.fixture(scope="module")
def results() -> list[dict[str, Any]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parent))
        for module in (measuring, tuning, verification):
            patch.setattr(module, "MEASURE", EMULATED)
        patch.setattr(tuning, "SECONDS", 900)  # on a machine that others use, too
        patch.setitem(session.VARIABLES, EMULATED, {"TRITON_INTERPRET": "1"})
        patch.setattr(measuring, "find_gpu", lambda wanted: {"name": "none", "driver": "none", "arch": 90})
        capture = Session.capture
        patch.setattr(Session, "capture", lambda self, interpreted: capture(self, True))
        settings = Settings(mode="script", script=str(WALKS), args=list(NAMES))
        with cleaned(Session(settings, Progress(quiet=True))) as running:
            outcome = verification.verify(running)
    assert (outcome.failure, outcome.notes) == (None, [])
    return outcome.results


def of(results: list[dict[str, Any]], kernel: str) -> list[dict[str, Any]]:
    return [r for r in results if r["kernel"] == kernel]


@pytest.mark.parametrize(("kernel", "count"), [("tuned_blocks", 1), ("tuned_scale", 4), ("half_covered", 1)])
def test_an_access_is_measured(results: list[dict[str, Any]], kernel: str, count: int) -> None:
    found = of(results, kernel)
    assert len(found) == count
    for result in found:
        assert (result["verdict"], result["reason"]) == ("measured (permuted)", None)
        assert result["outputs_equal"] and result["measured"]["rounds"] >= 2


def test_a_split_copy_is_measured(results: list[dict[str, Any]]) -> None:
    (result,) = of(results, "plus_transposed")
    assert (result["verdict"], result["best"]) == ("measured (split copy)", None)
    assert result["outputs_equal"]


def test_best_against_best(results: list[dict[str, Any]]) -> None:
    (result,) = of(results, "tuned_blocks")
    best = result["best"]
    rows = best["configurations"]
    assert [r["before_us"] is not None for r in rows] == [True, True, False, False]
    for side in ("before", "after"):
        quickest = min(rows[:2], key=lambda r: r[f"{side}_us"])
        assert best[side] == {k: quickest[k] for k in ("kwargs", "num_warps", "num_stages", "name")}
    assert best["measured"]["low"] <= best["measured"]["ratio"] <= best["measured"]["high"]
    (line, *left_out) = report.best_lines(best)
    assert line.startswith("  best      ") and line.endswith("of 2 and 2 configurations")
    assert len(left_out) == 2


def test_permuted_outputs_are_compared_with_the_chosen_configuration(results: list[dict[str, Any]]) -> None:
    for result in of(results, "tuned_scale"):
        rows = result["best"]["configurations"]
        assert [(r["reason"], r["variant_reason"]) for r in rows] == [(None, None)] * 2
        assert all(r["before_us"] and r["after_us"] for r in rows)
        assert [r["name"] for r in rows] == ["BLOCK=128, 4 warps, 3 stages", "BLOCK=64, 2 warps, 3 stages"]


def test_a_configuration_that_covers_less_is_left_out(results: list[dict[str, Any]]) -> None:
    """The output holds what an earlier trial left there, and begins with no numbers all the same."""
    (result,) = of(results, "half_covered")
    chosen, other = result["best"]["configurations"]
    assert chosen["chosen"] and chosen["before_us"] and chosen["after_us"]
    assert other["before_us"] is other["after_us"] is None
    assert other["reason"] == (
        "outputs differ on the GPU: other elements are infinite, no number or not written, "
        "against the chosen configuration"
    )
    assert result["best"]["before"]["name"] == "BLOCK=64, 4 warps, 3 stages"
