"""Every fixture kernel gets the verdicts and the findings that its comments promise."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import expectations
import pytest
from expectations import BadExpectation, Line, Verdict

from coalesce_lint.findings import all_rules, run_rules
from coalesce_lint.launches.index import build
from coalesce_lint.launches.verdict import attach

FIXTURES = Path(__file__).parent.parent / "fixtures"
#: Those with kernels in strings are for tests/test_strings.py.
FILES = sorted(p for p in FIXTURES.rglob("*.py") if p.parent.name != "strings")
RULE_FOLDERS = sorted(p.name for p in FIXTURES.glob("CL*"))
#: The rules that the documents' kernels are checked with; cases/ and forms/ carry verdicts only.
SEED_CODES = {"CL101", "CL102", "CL103"}


def name_of(path: Path) -> str:
    return path.relative_to(FIXTURES).as_posix()


def analyze(path: Path):
    from coalesce_lint.engine import analyze_text

    text = path.read_text(encoding="utf-8")
    report = analyze_text(text, str(path))
    attach(report.kernels, build([(str(path), text)], [], innermost=True).of_file(str(path)), every=True)
    assert not report.errors, [e.message for e in report.errors]
    return report


def codes_of(path: Path, lines: dict[int, Line]) -> set[str]:
    """The codes whose findings the file states in full."""
    mentioned = {code.rstrip("?") for line in lines.values() for code in line.codes}
    folder = path.parent.name
    if folder in RULE_FOLDERS:
        return mentioned | {folder}
    return mentioned | (SEED_CODES if folder == "seeds" else set())


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_verdicts(path: Path) -> None:
    lines = expectations.parse_file(path.read_text(encoding="utf-8"))
    accesses = [a for kernel in analyze(path).kernels for a in kernel.accesses]
    assert accesses, "a fixture without an access"
    wrong = expectations.differences(lines, accesses)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", [f for f in FILES if f.parent.name in (*RULE_FOLDERS, "seeds")], ids=name_of)
def test_findings(path: Path) -> None:
    lines = expectations.parse_file(path.read_text(encoding="utf-8"))
    codes = codes_of(path, lines)
    rules = [rule for rule in all_rules() if rule.code in codes]
    absent = codes - {rule.code for rule in rules}
    if absent:
        pytest.skip(f"no such rule yet: {', '.join(sorted(absent))}")
    report = analyze(path)
    told = run_rules(report.kernels, report.errors, rules)
    found = [(f.place.line, f.code + "?" * f.optional, f.message) for f in told]
    expected = {(number, code) for number, line in lines.items() for code in line.codes}
    wrong = [f"line {n}: unexpected {c} {m}" for n, c, m in found if (n, c) not in expected]
    wrong += [f"line {n}: {c} not found" for n, c in sorted(expected - {(n, c) for n, c, _ in found})]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("folder", RULE_FOLDERS)
def test_a_rule_folder_shows_both_sides(folder: str) -> None:
    """flagged_*.py have findings of the folder's rule, clean_*.py have none, and there is nothing else."""
    files = sorted((FIXTURES / folder).glob("*.py"))
    for path in files:
        kind = path.name.split("_")[0]
        assert kind in ("flagged", "clean"), path.name
        lines = expectations.parse_file(path.read_text(encoding="utf-8"))
        has = any(folder in line.codes for line in lines.values())
        assert has == (kind == "flagged"), path.name
    assert {p.name.split("_")[0] for p in files} == {"flagged", "clean"}


# The expectations themselves


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("uniform", Verdict("uniform")),
        ("contiguous(run=4, axis=1)", Verdict("contiguous", 1, None, ("run=4",))),
        ("contiguous(axis=1, rows=gather)", Verdict("contiguous", 1, None, ("rows=gather",))),
        ("strided(cdiv(K, 8), axis=0)", Verdict("strided", 0, "cdiv(K, 8)")),
        ("parametric(stride_xn)", Verdict("parametric", None, "stride_xn")),
        (
            "contiguous(wrap(N), misaligned(+1))",
            Verdict("contiguous", None, None, ("wrap(N)", "misaligned(+1)")),
        ),
        ("reversed(-1)", Verdict("reversed", None, "-1")),
        ("tma-invalid(last stride s_n)", Verdict("tma-invalid")),
    ],
)
def test_verdicts_are_read(text: str, verdict: Verdict) -> None:
    assert expectations.parse_verdict(text) == verdict


@pytest.mark.parametrize(
    "comment",
    [
        "# expect: contigous",
        "# expect: strided",
        "# expect: strided(axis=0)",
        "# expect: parametric",
        "# expect: strided(N, 2)",
        "# expect: strided(N *)",
        "# expect: contiguous(rows=gatherd)",
        "# expect: contiguous(axis=last)",
        "# expect: contiguous(N)",
        "# expect: strided(N",
        "# expect: uniform ; or: contiguous",
        "# expect: uniform ; also: overflow",
        "# expect:",
        "# finds:",
        "# finds: CL1",
        "# finds: CL101, CL101",
        "# find: CL101 # expect: uniform",
        "# exepct: contiguous ; alt: uniform",
        "# expect: uniform # a remark",
    ],
)
def test_misspelled_expectations_are_errors(comment: str) -> None:
    with pytest.raises(BadExpectation):
        expectations.parse_comment(comment)


def test_comments_without_expectations_are_left_alone() -> None:
    assert expectations.parse_comment("# the lanes follow the row") is None


def test_a_line_may_hold_several_of_everything() -> None:
    line = expectations.parse_comment(
        "# finds: CL101, CL102 # expect: uniform, strided(2) ; alt: gather ; and: uniform"
    )
    assert line is not None
    assert line.codes == {"CL101", "CL102"}
    assert [v.kind for v in line.verdicts] == ["uniform", "strided"]
    assert [v.kind for v in line.alternatives] == ["gather"]
    assert [v.kind for v in line.further] == ["uniform"]


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("2 * N", "N*2", True),
        ("H * W", "W*H", True),
        ("(n + 7) // 8", "cdiv(n, 8)", True),
        ("tl.cdiv(n, 8)", "cdiv(n, 8)", True),
        ("N", "M", False),
        ("N", "N + 1", False),
        ("K // 8", "K / 8", False),
        ("N", None, False),
        (None, None, True),
    ],
)
def test_strides_are_compared_as_functions(a: str | None, b: str | None, same: bool) -> None:
    assert expectations.same_function(a, b) is same


def access(line: int, column: int, pattern: str, axis: int | None = 0, stride: str | None = None, **kw):
    place = SimpleNamespace(line=line, column=column)
    base = {"op": "load", "condition": None, "notes": [], "reason": None}
    return SimpleNamespace(place=place, pattern=pattern, lane_axis=axis, lane_stride=stride, **{**base, **kw})


def test_differences_are_told() -> None:
    lines = expectations.parse_file(
        "a  # expect: uniform, strided(2 * N)\n"
        "b  # expect: parametric(s, axis=1)\n"
        "c  # expect: contiguous(run=4)\n"
        "d  # expect: contiguous\n"
        "e\n"
    )
    right = [
        access(1, 4, "uniform", None),
        access(1, 20, "strided", 0, "N*2"),
        access(2, 0, "parametric", 1, "s", condition="t == 1 or s == 1"),
        access(3, 0, "contiguous", 0, "1", notes=["run=4", "branch"]),
        access(4, 0, "contiguous", 0, "-1", notes=["reversed"]),
    ]
    assert expectations.differences(lines, right) == []
    wrong = [
        access(1, 4, "strided", 0, "N*2"),
        access(1, 20, "uniform", None),
        access(2, 0, "parametric", 1, "s", condition="t == 1"),
        access(3, 0, "contiguous", 0, "1"),
        access(5, 0, "contiguous", 0, "1"),
    ]
    told = expectations.differences(lines, wrong)
    assert [text.split(":")[0] for text in told] == [
        "line 1",
        "line 1",
        "line 2",
        "line 3",
        "line 4",
        "line 5",
    ]


def test_several_verdicts_of_one_access() -> None:
    lines = expectations.parse_file("a  # expect: contiguous ; and: strided(2)\n")
    both = [access(1, 0, "contiguous", 0, "1"), access(1, 0, "strided", 0, "2")]
    assert expectations.differences(lines, both) == []
    assert expectations.differences(lines, both[:1]) == ["line 1: expected also strided(2), not reported"]
