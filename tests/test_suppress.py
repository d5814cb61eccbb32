import pytest

from coalesce_lint.access import Place
from coalesce_lint.findings import Finding
from coalesce_lint.suppress import is_suppressed


def suppressed(*lines, first=1, last=1, code="CL101"):
    return is_suppressed(Finding(code, "name", Place("k.py", first, 4, last, 9), "message"), lines)


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",
        "# NOQA",
        "# noqa: CL101",
        "# noqa:CL101",
        "# NoQA: cl101",
        "# noqa: E501,CL101",
        "# noqa: E501, CL101",
        "# noqa: E501 CL101",
        "# noqa: CL1",
        "# noqa: CL101 read once only",
        "# type: ignore # noqa: CL101",
    ],
)
def test_comments_that_cover_a_finding(comment):
    assert suppressed(f"x = tl.load(p)  {comment}")


@pytest.mark.parametrize(
    "comment", ["", "# noqa: CL102", "# noqa: E501", "# no qa", "#noqa", "# noqa: CL1011"]
)
def test_comments_that_do_not(comment):
    assert not suppressed(f"x = tl.load(p)  {comment}")


def test_any_line_of_the_call_counts():
    lines = ["x = tl.load(", "    p,  # noqa: CL101", ")", "y = 1  # noqa"]
    assert suppressed(*lines, first=1, last=3)
    assert not suppressed(*lines, first=3, last=3)


def test_a_place_outside_the_text_is_not_suppressed():
    assert not suppressed("# noqa", first=7, last=9)
    assert not suppressed(first=1, last=1)
