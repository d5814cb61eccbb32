"""The measurements in docs/evidence: what they claim follows from what they hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support import ROOT

from coalesce_lint.evidence import Evidence, EvidenceError

FILES = sorted((ROOT / "docs" / "evidence").glob("*.json"))

#: Ratios of an independent study of the same launches: the variant's gain may differ by a tenth.
STUDY = {
    ("column_sum", "load", "x_ptr"): 2.58,
    ("channel_scale", "load", "x_ptr"): 9.6,
    ("channel_scale", "store", "x_ptr"): 9.6,
    ("softmax_dim0", "load", "in_ptr"): 1.23,
    ("softmax_dim0", "store", "out_ptr"): 2.94,
    ("softmax_dim0", "together", "in_ptr, out_ptr"): 9.9,
    ("contiguous_copy", "load", "x_ptr"): 1.0,
    ("contiguous_copy", "store", "out_ptr"): 1.0,
    ("transposed_tile", "load", "x_ptr"): 1.0,
    ("transposed_tile", "store", "out_ptr"): 1.0,
}


#: Kernels under an autotuner, which the study has not.
TUNED = {("tuned_column_sum", "load", "x_ptr")}


def results(tuned: bool = False) -> list[dict]:
    every = [r for file in FILES for r in json.loads(file.read_text())["results"]]
    return [r for r in every if tuned or (r["kernel"], r["op"], r["pointer"]) not in TUNED]


@pytest.mark.parametrize("result", results(), ids=lambda r: f"{r['kernel']}-{r['op']}")
def test_a_measurement(result: dict) -> None:
    measured = result["measured"]
    wanted = STUDY[result["kernel"], result["op"], result["pointer"]]
    assert abs(measured["ratio"] / wanted - 1) <= 0.1
    assert measured["aa_low"] <= 1 <= measured["aa_high"]
    assert measured["slower"] == (wanted > 1.05)
    if wanted == 1.0:
        assert measured["low"] <= 1 <= measured["high"]
    assert result["addresses_proved"] and result["outputs_equal"]


@pytest.mark.parametrize("result", results(tuned=True), ids=lambda r: f"{r['kernel']}-{r['op']}")
def test_the_counters_are_the_predicted_ones(result: dict) -> None:
    whole = result["predicted"]["kernel"]
    for side in ("before", "after"):
        counted = result["counters"][side]
        assert counted["load_sectors"] + counted["store_sectors"] == whole[side]["sectors"]
        assert counted["load_requests"] + counted["store_requests"] == whole[side]["requests"]


def test_every_measurement_of_the_study_is_there() -> None:
    assert {(r["kernel"], r["op"], r["pointer"]) for r in results(tuned=True)} == set(STUDY) | TUNED


def test_best_against_best_is_that_of_the_quickest_configurations() -> None:
    from coalesce_lint.verify.report import best_lines

    found = [r for r in results(tuned=True) if r["best"] is not None]
    assert {(r["kernel"], r["op"], r["pointer"]) for r in found} == TUNED
    for result in found:
        best, measured = result["best"], result["best"]["measured"]
        rows = best["configurations"]
        assert all(r["proved"] and r["reason"] is r["variant_reason"] is None for r in rows)
        for side in ("before", "after"):
            quickest = min(rows, key=lambda r: r[f"{side}_us"])
            assert best[side]["name"] == quickest["name"]
        assert measured["aa_low"] <= 1 <= measured["aa_high"] and measured["slower"]
        assert result["addresses_proved"] and result["outputs_equal"]
        assert f"```text\n{best_lines(best)[0]}\n```" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_device_versions_and_command_are_told(file: Path) -> None:
    document = json.loads(file.read_text())
    assert document["device"] == "NVIDIA H200" and document["driver"]
    assert document["versions"]["triton"] == "3.6.0" and document["versions"]["torch"]
    assert document["command"].startswith("coalesce-lint verify ") and document["date"]


def test_the_measured_lines_are_still_those() -> None:
    lines = (ROOT / "benchmarks" / "verified_kernels.py").read_text().split("\n")
    for result in results(tuned=True):
        if not result["together"]:
            assert lines[result["line"] - 1].strip() == result["source"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "no JSON"),
        ("[]", "not written by 'coalesce-lint verify --json'"),
        ('{"schema": 2, "results": []}', "not written by 'coalesce-lint verify --json'"),
        (
            '{"schema": 1, "results": [{"measured": {"ratio": "x"}}]}',
            "not written by 'coalesce-lint verify --json'",
        ),
    ],
)
def test_a_file_that_is_no_evidence(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "evidence.json"
    file.write_text(text)
    with pytest.raises(EvidenceError, match=said):
        Evidence.read([file])


def test_the_readme_shows_a_measurement_as_it_is_told() -> None:
    from coalesce_lint.verify.report import render

    document = json.loads((ROOT / "docs" / "evidence" / "column_sum.json").read_text())
    assert f"```text\n{render(document['results'])}```" in (ROOT / "README.md").read_text()


def test_best_against_best_in_words() -> None:
    """The two best, and each reason for leaving configurations out once."""
    pytest.importorskip("numpy")
    from coalesce_lint.verify.report import best_lines

    def row(name: str, **more: Any) -> dict[str, Any]:
        return {
            "name": name,
            "before_us": 5.0,
            "after_us": 2.0,
            "reason": None,
            "variant_reason": None,
            "proved": True,
            **more,
        }

    late = {"before_us": None, "after_us": None, "reason": "not tried, 12 are"}
    best = {
        "configurations": [
            row("BLOCK=64, 1 warp, 3 stages"),
            row("BLOCK=32, 1 warp, 3 stages", after_us=None, variant_reason="failed proof"),
            *(row(f"BLOCK={n}", **late) for n in (1, 2, 4)),
        ],
        "before": {"name": "BLOCK=32, 1 warp, 3 stages"},
        "after": {"name": "BLOCK=64, 1 warp, 3 stages"},
        "measured": {"before_us": 5.0, "after_us": 2.0, "ratio": 2.5, "low": 2.4, "high": 2.6, "aa": 1.0},
        "reason": None,
    }
    assert best_lines(None) == []
    assert best_lines(best) == [
        "  best      5.0 us (BLOCK=32, 1 warp, 3 stages) -> 2.0 us (BLOCK=64, 1 warp, 3 stages), "
        "ratio 2.50 (2.40 to 2.60), A/A 1.000; best against best, of 2 and 1 configurations",
        "  left out  the variant under BLOCK=32, 1 warp, 3 stages: failed proof",
        "  left out  BLOCK=1 and 2 more: not tried, 12 are",
    ]
    best.update(measured=None, reason="no GPU")
    assert best_lines(best)[0].startswith("  best      no GPU: best against best was not timed; ")
