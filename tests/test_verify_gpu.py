"""``verify`` on a GPU: what only a GPU can tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("triton")
pytest.importorskip("torch")

from support import ROOT

from coalesce_lint.verify.session import Progress, Session, Settings, cleaned
from coalesce_lint.verify.verification import Outcome, verify

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not Path("/dev/nvidiactl").exists(), reason="no NVIDIA GPU here"),
]

WALKS = ROOT / "tests" / "verify_kernels" / "walks.py"
KERNELS = ROOT / "benchmarks" / "verified_kernels.py"


def verified(script: Path, *args: str, **options: Any) -> Outcome:
    settings = Settings(mode="script", script=str(script), args=list(args), **options)
    with cleaned(Session(settings, Progress(quiet=True))) as session:
        return verify(session)


@pytest.fixture(scope="module")
def walks() -> dict[str, list[dict[str, Any]]]:
    names = ("tuned_blocks", "tuned_scale", "half_covered", "host_descriptor", "offsets_of_helper")
    outcome = verified(WALKS, *names)
    assert outcome.failure is None and outcome.notes == []
    return {name: [r for r in outcome.results if r["kernel"] == name] for name in names}


@pytest.mark.parametrize("kernel", ["tuned_blocks", "half_covered", "host_descriptor", "offsets_of_helper"])
def test_an_access_is_measured(walks: dict[str, list[dict[str, Any]]], kernel: str) -> None:
    (result,) = walks[kernel]
    assert (result["verdict"], result["reason"]) == ("measured (permuted)", None)
    assert result["outputs_equal"] and result["addresses_proved"]
    measured = result["measured"]
    assert measured["low"] <= measured["ratio"] <= measured["high"]


def test_best_against_best(walks: dict[str, list[dict[str, Any]]]) -> None:
    """Both sides are timed under each configuration that can be; the best of each is compared."""
    (result,) = walks["tuned_blocks"]
    best = result["best"]
    rows = best["configurations"]
    timed = [r for r in rows if r["before_us"] is not None and r["after_us"] is not None]
    assert len(timed) >= 2
    for side in ("before", "after"):
        quickest = min(timed, key=lambda r: r[f"{side}_us"])
        assert best[side]["name"] == quickest["name"]
    assert best["measured"]["low"] <= best["measured"]["ratio"] <= best["measured"]["high"]
    reasons = {r["name"]: r["reason"] for r in rows if r["reason"]}
    assert reasons["BLOCK=256, 1 warp, 3 stages"].startswith("it does not compile")


def test_best_against_best_of_a_permuted_output(walks: dict[str, list[dict[str, Any]]]) -> None:
    for result in walks["tuned_scale"]:
        rows = result["best"]["configurations"]
        assert all(r["before_us"] and r["after_us"] for r in rows), rows
        assert result["best"]["measured"]


def test_a_configuration_with_other_outputs_is_left_out(walks: dict[str, list[dict[str, Any]]]) -> None:
    (result,) = walks["half_covered"]
    rows = result["best"]["configurations"]
    other = next(r for r in rows if not r["chosen"])
    assert (other["reason"] or "").startswith("outputs differ on the GPU")
    assert other["before_us"] is other["after_us"] is None
    assert result["best"]["before"]["name"] == next(r for r in rows if r["chosen"])["name"]


def test_a_column_sum_is_slower_and_a_copy_is_not() -> None:
    found = {r["kernel"]: r for r in verified(KERNELS, "column_sum").results}
    assert found["column_sum"]["measured"]["slower"] and found["column_sum"]["outputs_equal"]
    for result in verified(KERNELS, "contiguous_copy", everything=True).results:
        assert not result["measured"]["slower"]
        assert 0.95 < result["measured"]["ratio"] < 1.05
