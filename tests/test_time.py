"""Kernels whose expressions grow with every line: done in seconds, with a verdict or the reason for none."""

import time

import pytest

from coalesce_lint.engine import analyze_text
from coalesce_lint.findings import all_rules, run_rules

HEAD = """\
import triton
import triton.language as tl


@triton.jit
def kernel(x, n, m, B: tl.constexpr):
    i = tl.arange(0, B)
"""

#: Lines that are written out for k = 0, 1, ... and how many times.
CHAINS = {
    "products_in_branches": (60, "if n > {k}: i = i * ({k} + 2)"),
    "quotients_and_remainders": (200, "i = (i // n + B) % (i + 3) + i // 7"),
    "digits_put_back_in_another_base": (60, "i = (i // {k2}) * ({k2} + 1) + i % {k2}"),
    "digits_of_a_size": (1000, "i = (i // n) * m + i % n"),
    "nested_quotients": (1000, "i = (i + {k}) // {k2}"),
    "nested_remainders": (60, "i = (i * 3 + {k}) % ({k} + 200)"),
    "choices_of_lanes": (60, "i = tl.where(i > n, i + n, i * 2) + tl.minimum(i, n)"),
    "bounds": (300, "i = tl.minimum(i, n + {k}) + tl.maximum(i, {k})"),
    "conditional_expressions": (60, "i = i if n > {k} else i * {k2}"),
    "bits": (60, "i = (i ^ {k}) | (i & {k}) + (i >> 1)"),
    "squares": (60, "i = i * i + n"),
    "large_numbers": (300, "i = i * (1000000000000000 + {k})"),
    "pointers_in_branches": (60, "if n > {k}: x = x + i * {k}"),
    "scalars": (300, "m = (m // n + B) % (m + 3) + m // 7"),
    "conditions": (60, "i = tl.where((n > {k}) & (i < {k}) | (i > n), i, i * {k2})"),
    "reshapes": (60, "i = tl.reshape(tl.trans(tl.reshape(i, (2, B // 2))), (B,))"),
}


def judged(text):
    """The accesses of ``text`` with all their texts, and the CPU seconds that this took."""
    start = time.process_time()
    report = analyze_text(text, "k.py")
    accesses = [a.as_dict() for k in report.kernels for a in k.accesses]
    return accesses, time.process_time() - start


@pytest.mark.parametrize("name", CHAINS)
def test_a_chain_of_lines_ends_in_time(name):
    times, line = CHAINS[name]
    lines = "".join(f"    {line.format(k=k, k2=k + 2)}\n" for k in range(times))
    (access,), seconds = judged(HEAD + lines + "    tl.load(x + i * m)\n")
    assert seconds < 3
    assert access["pattern"] != "unknown" or access["reason"]


def test_a_chain_of_branches_takes_time_in_proportion():
    lines = "".join(
        f"    {'elif' if k else 'if'} n == {k}:\n        i = i * {k}\n        tl.load(x + i + {k})\n"
        for k in range(900)
    )
    accesses, seconds = judged(HEAD + lines + "    tl.load(x + i)\n")
    assert len(accesses) == 901
    assert seconds < 6


@pytest.mark.parametrize("extent", [1 << 20, 1 << 21, 1 << 40, 1 << 62])
def test_tiles_that_are_too_large_for_a_device(extent):
    text = HEAD + f"    j = tl.arange(0, {extent})\n    tl.load(x + j * 3); tl.store(x + i[:, None] + j, 0)\n"
    start = time.process_time()
    report = analyze_text(text, "k.py")
    list(run_rules(report.kernels, report.errors, all_rules()))
    assert time.process_time() - start < 3
    assert [a.pattern for a in report.kernels[0].accesses] == ["strided", "contiguous"]
