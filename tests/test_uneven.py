"""Names that are tiles of other shapes by branch, at accesses where it is known which branch was taken."""

from __future__ import annotations

import pytest

from coalesce_lint.engine import analyze_text

HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
KERNEL = (
    HEAD
    + """\
def by_branch(x_ptr, out_ptr, n, ROWS: tl.constexpr, WHOLE: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    if WHOLE:
        p = x_ptr + tl.program_id(0)
    else:
        p = x_ptr + tl.program_id(0) * n + i
    for _ in range(n):
        {condition}:
            a = tl.load(p)
        else:
            a = tl.load(p)
        tl.store(out_ptr + i, a)
        p += n
"""
)


def shown(condition: str) -> list[tuple[str, int, bool]]:
    (kernel,) = analyze_text(KERNEL.format(condition=condition), "k.py").kernels
    return [(a.pattern, len(a.axes), "branch" in a.notes) for a in kernel.accesses[:2]]


@pytest.mark.parametrize("condition", ["if WHOLE", "if WHOLE == 1 and ROWS", "if WHOLE and n > 3"])
def test_the_branch_that_was_taken_gives_the_shape(condition):
    assert shown(condition)[0] == ("uniform", 0, False)


def test_the_other_branch_gives_the_other_shape():
    assert shown("if WHOLE") == [("uniform", 0, False), ("contiguous", 1, False)]
    assert shown("if not WHOLE") == [("contiguous", 1, False), ("uniform", 0, False)]


def test_another_condition_decides_nothing():
    assert shown("if ROWS") == [("contiguous", 1, True), ("contiguous", 1, True)]
