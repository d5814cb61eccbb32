"""What a mutant is, and the files in which most are made."""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    name: str
    file: str  #: under coalesce_lint/
    old: str
    new: str


DIVISION, RANGES, STEPS = "index/division.py", "index/ranges.py", "index/steps.py"
CHOICES, CONDITIONS, VERDICT = "index/choices.py", "index/conditions.py", "index/verdict.py"
BITS = "index/bits.py"
REARRANGED, COMPARISON, CARRIED = "index/rearranged.py", "index/comparison.py", "index/carried.py"
