"""A few dozen generated kernels: the static model's layouts against those of the installed compiler."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")
pytest.importorskip("torch")

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

import layout_differential

COUNT = 36


def test_the_model_lays_tiles_out_as_the_compiler_does() -> None:
    rows = layout_differential.run(COUNT, seed=101)
    judged = [r for r in rows if r.compared or r.wrong]
    wrong = [(r.kernel.text, r.wrong) for r in judged if r.wrong]
    assert len(judged) >= COUNT - 4, [r.skipped for r in rows]
    assert len(wrong) <= 1, wrong
    assert sum(r.compared for r in judged) >= 2 * len(judged)
