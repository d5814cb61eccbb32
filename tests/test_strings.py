"""Kernels inside string literals: found on demand, at their places in the file."""

import json
import re

import pytest
from support import ROOT, run

from coalesce_lint.strings import kernel_literals

FIXTURE = "fixtures/strings/compiled_like.py"
KERNEL = """\
import triton
import triton.language as tl

@triton.jit
def k(x, n, B: tl.constexpr):
    é = tl.arange(0, B); tl.load(x + é * n + tl.program_id(0))
"""


def found(*args, **kw):
    told = run("--isolated", "--format", "json", "--quiet", *args, **kw)
    return [(f["line"], f["column"], f["code"]) for f in json.loads(told.stdout)["findings"]]


def test_without_the_option_nothing_is_said():
    assert found(FIXTURE, cwd=ROOT) == []


def test_findings_are_at_their_places_in_the_file():
    lines = (ROOT / FIXTURE).read_text().splitlines()
    expected = [
        (number, line.index("tl.load"), code)
        for number, line in enumerate(lines, 1)
        for code in re.findall(r"# finds: (\w+)", line)
    ]
    start = next(n for n, line in enumerate(lines, 1) if '"import triton' in line)
    told = found("--strings", FIXTURE, cwd=ROOT)
    assert len(expected) == 2
    assert told == [*expected, (start, 4, "CL101")]


def test_explain():
    told = run("explain", "--isolated", "--strings", f"{FIXTURE}::copy_column", cwd=ROOT)
    assert "copy_column: 2 accesses (1 strided, 1 contiguous)" in told.stdout
    assert "source   tl.load(x_ptr + i * n + tl.program_id(0))\n" in told.stdout
    assert run("explain", "--isolated", FIXTURE, cwd=ROOT).stdout == ""


def test_verdicts_are_at_their_places_in_the_file():
    lines = (ROOT / FIXTURE).read_text().splitlines()
    told = json.loads(run("explain", "--format", "json", "--strings", FIXTURE, cwd=ROOT).stdout)
    seen = {a["line"]: a["pattern"] for k in told["kernels"] for a in k["accesses"]}
    expected = {n: m[1] for n, line in enumerate(lines, 1) if (m := re.search(r"# expect: (\w+)", line))}
    assert len(expected) == 4
    assert {n: p for n, p in seen.items() if n in expected} == expected
    assert told["errors"] == []


def lint(tmp_path, text, *args):
    (tmp_path / "k.py").write_text(text)
    return found("--strings", *args, "k.py", cwd=tmp_path)


@pytest.mark.parametrize("quotes", ["'''", '"""'])
@pytest.mark.parametrize("prefix", ["", "r", "R", "u"])
def test_plain_and_raw_literals(tmp_path, quotes, prefix):
    assert lint(tmp_path, f"a = 1; ö = {prefix}{quotes}{KERNEL}{quotes}\n") == [(6, 25, "CL101")]


def test_the_first_line_of_a_literal_begins_behind_its_quotes(tmp_path):
    text = (
        "import triton, triton.language as tl\n@triton.jit\ndef k(x, n): tl.load(x + tl.arange(0, 64) * 6)\n"
    )
    assert lint(tmp_path, f"s = '''{text}'''\n") == [(3, 13, "CL101")]
    one = "(s :=   '''import triton, triton.language as tl; k = triton.jit(lambda: 0)\n'''\n)"
    assert lint(tmp_path, one) == []


@pytest.mark.parametrize(
    "literal",
    [
        '"' + KERNEL.replace("\n", "\\n") + '"',
        "'''" + KERNEL.replace("é", "\\u00e9") + "'''",
        "'''" + KERNEL.replace("\n\n", "\n' '\\n'\n'", 1).replace("\n", "\\n") + "'''",
    ],
)
def test_where_lines_do_not_match_the_literal_itself_is_the_place(tmp_path, literal):
    text = f"x = 1\ny = ({literal})\n"
    assert [f[:2] for f in lint(tmp_path, text)] in ([(2, 5)], [])
    assert [x.margins for x in kernel_literals(text)] == [None]


def test_windows_line_ends(tmp_path):
    (tmp_path / "k.py").write_bytes(f"s = '''{KERNEL}'''\n".replace("\n", "\r\n").encode())
    assert found("--strings", "k.py", cwd=tmp_path) == [(6, 25, "CL101")]


def test_a_comment_inside_the_literal_silences(tmp_path):
    text = KERNEL.replace("program_id(0))\n", "program_id(0))  # noqa: CL101\n")
    assert text != KERNEL
    assert lint(tmp_path, f"s = '''{text}'''\n") == []


def test_texts_that_are_no_kernels_are_passed_over(tmp_path):
    texts = [
        KERNEL.replace("def k(", "def k(:"),
        "use @triton.jit\n  def it",
        KERNEL.replace("@triton", "@torch"),
    ]
    assert lint(tmp_path, "".join(f"s{k} = '''{t}'''\n" for k, t in enumerate(texts))) == []
    assert lint(tmp_path, f"s = f'''{KERNEL}'''\n") == []


def test_kernels_of_the_file_and_of_its_strings_together(tmp_path):
    told = lint(tmp_path, f"{KERNEL}\ns = '''{KERNEL}'''\n")
    assert told == [(6, 25, "CL101"), (13, 25, "CL101")]


def test_a_helper_of_another_file_keeps_its_place(tmp_path):
    head = "import triton\nimport triton.language as tl\n"
    (tmp_path / "helpers.py").write_text(
        f"{head}@triton.jit\ndef h(p, n):\n    tl.load(p + tl.arange(0, 64) * n * 2)\n"
    )
    text = f"x = 1\ns = '''{head}from helpers import h\n@triton.jit\ndef k(x, n):\n    h(x, n)\n'''\n"
    (tmp_path / "k.py").write_text(text)
    told = json.loads(run("explain", "--format", "json", "--strings", "k.py", cwd=tmp_path).stdout)
    ((access,),) = [k["accesses"] for k in told["kernels"]]
    assert (access["path"], access["line"]) == ("helpers.py", 5)
    assert access["call_chain"] == [{"function": "k", "path": "k.py", "line": 7, "column": 4}]
