"""The mutation check can fail: it tells survivors, what could not be made, and what killed the others."""

import sys

import pytest
from support import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))
import mutants
from mutate import run, with_copy

DIVISION = (ROOT / "coalesce_lint" / mutants.record.DIVISION).read_text()
HARMLESS = mutants.Mutant("harmless", mutants.record.DIVISION, '"""Floor division', '"""A floor division')
WRONG_SIGN = mutants.Mutant("wrong sign", mutants.record.DIVISION, "out = x - c * q", "out = x + c * q")
GONE = mutants.Mutant("gone", mutants.record.DIVISION, "a piece that is not there", "")


def test_the_names_are_different():
    assert len({m.name for m in mutants.MUTANTS}) == len(mutants.MUTANTS) >= 20
    assert all(m.old != m.new for m in mutants.MUTANTS)


@pytest.mark.slow
def test_survivors_and_missing_pieces_are_told(monkeypatch, capsys):
    assert DIVISION.count(HARMLESS.old) == DIVISION.count(WRONG_SIGN.old) == 1
    monkeypatch.setattr(mutants, "MUTANTS", [HARMLESS, WRONG_SIGN])
    assert with_copy(lambda folder: run(folder, [], kernels=0)) == 1
    told = capsys.readouterr().out
    assert "SURVIVES  harmless" in told
    assert "killed    wrong sign" in told and "test_algebra" in told
    monkeypatch.setattr(mutants, "MUTANTS", [GONE])
    assert with_copy(lambda folder: run(folder, [], kernels=0)) == 2
    assert "NOT MADE  gone" in capsys.readouterr().out
