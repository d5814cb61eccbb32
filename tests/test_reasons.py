"""Every ``unknown`` verdict carries a reason of the closed list, and the README names them all."""

import re

import pytest
from oracle.generate import generate
from support import ROOT

from coalesce_lint.engine import analyze_text
from coalesce_lint.reasons import Reason, reason_of

FILES = sorted((ROOT / "fixtures").rglob("*.py")) + sorted((ROOT / "tests" / "data").rglob("*.py"))
GENERATED = 300

#: Kernels whose accesses cannot be judged, with the reason that must be given.
CANNOT = {
    "def k(p, f, n: tl.constexpr): tl.store(p + tl.arange(0, n) * f(3), 1)": Reason.CALL_OF_ARGUMENT,
    "def k(p): tl.store(p + mystery(tl.arange(0, 64)), 1)": Reason.CALL,
    "def k(p): tl.store(p + tl.exp(tl.arange(0, 64)), 1)": Reason.RESULT,
    "def k(p): tl.store(p + (tl.arange(0, 64) ^ 5), 1)": Reason.BIT_OPERATION,
    "def k(p): tl.store(p + tl.arange(0, 256).to(tl.int8), 1)": Reason.NARROWING,
    "def k(p): tl.store(p + (tl.arange(0, 64) + 100).to(tl.int8), 1)": Reason.NARROWING,
    "def k(p): tl.store(p + (tl.arange(0, 64) + 64).to(tl.int8), 1)": None,
    "def k(p, n): tl.store(p + tl.where(tl.arange(0, 64) < n, 0, 640), 1)": Reason.LANE_CHOICE,
    "def k(p): tl.store(p + tl.arange(0, 64)[:, None] * tl.arange(0, 64)[None, :], 1)": Reason.VARYING,
    "def k(p, a: tl.constexpr): tl.store(p + 640 // (tl.arange(0, 64) + a), 1)": Reason.LANE_DIVISOR,
    "def k(p): tl.store(p + tl.cumsum(tl.arange(0, 64), 0), 1)": Reason.REDUCTION,
    "def k(p, s: tl.constexpr): tl.store(p + tl.arange(0, 64) * tl.arange(0, 64), 1)": Reason.VARYING,
}


def reasons(text: str, path: str) -> set[str | None]:
    report = analyze_text(text, path)
    return {a.reason for k in report.kernels for a in k.accesses if a.pattern == "unknown"}


def unlisted(told: set[str | None]) -> set[str | None]:
    return {text for text in told if text is None or reason_of(text) is None}


def test_unknowns_of_the_fixtures_have_a_listed_reason():
    assert FILES
    assert not unlisted(set().union(*(reasons(p.read_text(), str(p)) for p in FILES)))


def test_unknowns_of_generated_kernels_have_a_listed_reason():
    told = set().union(*(reasons(generate(seed).text, "k.py") for seed in range(GENERATED)))
    assert not unlisted(told)
    assert len(told) > 3  # the generator does make such kernels


@pytest.mark.parametrize(("body", "reason"), CANNOT.items())
def test_a_kernel_that_cannot_be_judged(body, reason):
    head = "import triton\nimport triton.language as tl\nfrom elsewhere import mystery\n\n\n@triton.jit\n"
    told = reasons(head + body + "\n", "k.py")
    assert {reason_of(text or "") for text in told} == ({reason} if reason else set())


def test_another_text_is_not_on_the_list():
    assert reason_of("something else") is None
    assert reason_of("call of") is None
    assert reason_of("call of f and more") is None


@pytest.mark.parametrize("reason", Reason)
def test_a_reason_is_told_from_its_text(reason):
    text = reason.of("some (odd) name") if "{}" in reason.value else reason.why
    assert reason_of(text) is reason


def test_the_readme_lists_the_reasons():
    text = (ROOT / "README.md").read_text()
    listed = re.search(r"^### Reasons for `unknown`\n((?:.*\n)*?)## ", text, re.MULTILINE)
    assert listed
    assert set(re.findall(r"`([^`]+)`", listed[1].split("|---", 1)[1])) == {
        r.value.replace("{}", "…") for r in Reason
    }
