"""The rules themselves: codes, pages, weighing and wording."""

import ast
import json
import re

import pytest
from support import ROOT, access, kernel, run

from coalesce_lint import rule_pages
from coalesce_lint.access import Axis, Call, FileError, Place
from coalesce_lint.advice import strided_accesses, strided_finding, way_out
from coalesce_lint.findings import HEADINGS, all_rules, run_rules

RULES = {r.code: r for r in all_rules()}


def test_every_module_of_the_folder_holds_one_rule_named_by_its_code():
    modules = {p.stem for p in (ROOT / "rules").glob("*.py")} - {"__init__"}
    assert modules == {code.lower() for code in RULES}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_rule_has_what_users_read(rule):
    assert re.fullmatch(r"CL[1-9]\d\d", rule.code)
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name)
    assert rule.severity in ("error", "warning", "info")
    assert rule.summary and not rule.summary.endswith(".")


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_page_has_all_headings_in_order_and_text_below_each(rule):
    found = re.findall(r"^## (.+)$", rule.page(), re.MULTILINE)
    assert tuple(found) == HEADINGS
    sections = re.split(r"^## .+$", rule.page(), flags=re.MULTILINE)
    assert all(section.strip() for section in sections)


def test_names_are_unique():
    assert len({r.name for r in RULES.values()}) == len(RULES)


def block(rule, heading):
    """The code block below a heading of a page."""
    section = rule.page().split(f"## {heading}\n")[1].split("\n## ")[0]
    return re.search(r"```python\n(.*?)```", section, re.DOTALL)[1]


@pytest.mark.parametrize("heading", ["Example", "Use instead"])
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_the_code_of_a_page_parses(rule, heading):
    if (rule.code, heading) == ("CL901", "Example"):
        with pytest.raises(SyntaxError):
            ast.parse(block(rule, heading))
    else:
        ast.parse(block(rule, heading))


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_the_example_is_flagged_and_what_to_use_instead_is_not(rule, tmp_path):
    bad, good = tmp_path / "bad.py", tmp_path / "good.py"
    bad.write_text(block(rule, "Example"))
    good.write_text(block(rule, "Use instead"))
    told = run("--isolated", "--select", rule.code, bad)
    assert told.returncode == (0 if rule.severity == "info" else 1), told.stderr
    assert {line.split()[1] for line in told.stdout.splitlines()} == {rule.code}
    # the kernels of pages are short: no checks of strides and pitches, less than 2**31 elements
    short = {"CL100", "CL208", "CL501"} - {rule.code}
    told = run("--isolated", "--select", f"CL,{rule.code}", "--ignore", ",".join(short), good)
    assert (told.returncode, told.stdout) == (0, ""), told.stderr


def test_the_pages_of_the_repository_are_those_of_the_modules():
    written = {p.name: p.read_text(encoding="utf-8") for p in (ROOT / "docs" / "rules").iterdir()}
    assert written == rule_pages.pages(), "run: python -m coalesce_lint.rule_pages docs/rules"


def test_all_rules_are_in_the_index():
    listed = re.findall(r"^\| \[(\w+)\]\(\1\.md\) \|", rule_pages.pages()["README.md"], re.MULTILINE)
    assert listed == list(RULES)


def test_pages_are_written_and_old_ones_go(tmp_path):
    (tmp_path / "CL000.md").write_text("gone")
    (tmp_path / "notes.txt").write_text("kept")
    assert rule_pages.main([str(tmp_path)]) == 0
    assert {p.name for p in tmp_path.iterdir()} == {*rule_pages.pages(), "notes.txt"}
    assert rule_pages.main([]) == 2


def test_rules_for_programs():
    told = json.loads(run("rule", "--all", "--format", "json").stdout)
    assert [r["code"] for r in told] == list(RULES)
    for record in told:
        rule = RULES[record["code"]]
        assert tuple(record["sections"]) == HEADINGS and record["page"] == rule.page().strip()
        assert (record["name"], record["severity"], record["default"]) == (
            rule.name,
            rule.severity,
            rule.default,
        )
        assert record["package"] is None
    (one,) = json.loads(run("rule", "CL101", "--format", "json").stdout)
    assert one == told[list(RULES).index("CL101")]


def findings(*accesses, codes=("CL100", "CL101", "CL102", "CL103"), errors=()):
    return list(run_rules([kernel(*accesses)], errors, [RULES[c] for c in codes]))


@pytest.mark.parametrize(
    ("op", "code"),
    [
        ("load", "CL101"),
        ("descriptor_load", "CL101"),
        ("store", "CL102"),
        ("descriptor_store", "CL102"),
        ("atomic_add", "CL103"),
        ("atomic_cas", "CL103"),
    ],
)
def test_each_strided_operation_has_its_rule(op, code):
    (found,) = findings(access(op=op))
    assert found.code == code
    assert found.severity == "warning"
    assert found.message.startswith(f"{op if 'atomic' in op else op.replace('_', ' ')} of x_ptr is strided: ")


@pytest.mark.parametrize("pattern", ["uniform", "contiguous", "gather", "unknown"])
def test_other_verdicts_are_no_findings(pattern):
    assert findings(access(pattern)) == []


def test_a_parametric_access_names_its_condition():
    (found,) = findings(access("parametric", lane_stride="stride_xn", condition="stride_xn == 1"))
    assert found.code == "CL100"
    assert "contiguous only if stride_xn == 1" in found.message


def test_an_unparsable_file():
    (found,) = findings(errors=[FileError("k.py", 3, "invalid syntax", 7)], codes=["CL901"])
    assert (found.place.line, found.place.column, found.severity) == (3, 7, "error")
    assert found.message == "not checked, the file cannot be read as Python: invalid syntax"


def test_a_finding_in_a_helper_is_told_once_and_names_its_callers():
    a = access(call_chain=[Call("caller", Place("k.py", 20, 4))])
    (found,) = findings(a, a)
    assert found.related == [(Place("k.py", 20, 4), "called from caller")]


def axes(*pairs):
    return [Axis(n, extent, stride) for n, (extent, stride) in enumerate(pairs)]


def worth_reporting(a, k):
    return a in list(strided_accesses(k, lambda _: True))


def worth_alone(a):
    return worth_reporting(a, kernel(a))


def test_fewer_lanes_than_a_warp_are_not_worth_a_finding():
    assert not worth_alone(access(axes=axes(("16", "n"))))
    assert worth_alone(access(axes=axes(("32", "n"))))
    assert worth_alone(access(axes=axes(("4", "n*m"), ("16", "n"))))


def test_lanes_that_share_an_address_are_not_counted():
    assert not worth_alone(access(axes=axes(("16", "n"), ("128", "0"))))


@pytest.mark.parametrize(
    ("term", "worth"),
    [
        ("4*(i0//4)", False),
        ("i0 + (i0 + 1) % 2 * 2 - 1", False),
        ("32*(i0//32) + 8*(i0 % 4) + (i0//4) % 8", False),
        ("4*((i0 + BLOCK*pid0)//4)", False),
        ("2*i0", True),
        ("2*(i0 + n)", True),
        ("8*(i0//4)", True),
        ("n*i0", True),
        ("(n*i0)//4", True),
        ("i0*i0", True),
        ("i0**2", True),
    ],
)
def test_lanes_that_touch_no_more_sectors_are_not_worth_a_finding(term, worth):
    assert worth_alone(access(lane_term=term)) is worth


def test_an_extent_that_is_not_a_number_is_taken_as_large():
    assert worth_alone(access(axes=axes(("BLOCK", "n"))))


def test_a_vector_beside_a_tile_is_not_worth_a_finding():
    vector = access(axes=axes(("BLOCK_M", "n")))
    tile = access("contiguous", axes=axes(("BLOCK_M", "n"), ("BLOCK_N", "1")))
    assert not worth_reporting(vector, kernel(vector, tile))


def test_a_table_read_before_the_loop_is_not_worth_a_finding():
    table = access(axes=axes(("64", "n")))
    work = access("contiguous", axes=axes(("BLOCK", "1")), loop_depth=1)
    assert not worth_reporting(table, kernel(table, work))


def test_the_same_table_in_the_loop_is_unless_its_address_stays():
    work = access("contiguous", axes=axes(("BLOCK", "1")), loop_depth=1)
    inside = access(axes=axes(("64", "n")), loop_depth=1)
    assert worth_reporting(inside, kernel(inside, work))
    invariant = access(axes=axes(("64", "n")), loop_depth=1, reused=True)
    assert not worth_reporting(invariant, kernel(invariant, work))


def test_an_address_that_is_not_known_does_not_stay():
    inside = access(axes=axes(("64", "n")), loop_depth=1)
    tile = access("unknown", axes=axes(("64", None), ("64", "1")), loop_depth=1, reused=True)
    assert not worth_reporting(inside, kernel(inside, tile))


def test_many_equal_accesses_do_not_hide_each_other():
    same = [access() for _ in range(20)]
    assert all(worth_reporting(a, kernel(*same)) for a in same)


def test_the_message_names_access_axis_multiplier_and_way_out():
    strided = access(scalar_owner="pid0 % n_cols")
    (finding,) = strided_finding(RULES["CL101"], strided, kernel(strided))
    assert finding.message == (
        "load of x_ptr is strided: lanes along axis 0 step by n_cols elements and pid0 % n_cols walks "
        "the unit stride; put the lanes along pid0 % n_cols, or give it a tile axis of its own "
        "(a tl.arange along it)"
    )


@pytest.mark.parametrize(
    ("kw", "said"),
    [
        ({"scalar_owner": "pid1"}, "put the lanes along pid1"),
        ({"scalar_owner": "k", "loop_depth": 1}, "load a 2-D tile whose second axis is a tl.arange along k"),
        ({"scalar_owner": "k", "loop_depth": 1, "op": "store"}, "write a 2-D tile whose second axis"),
        ({"scalar_owner": "-k", "loop_depth": 1}, "a tl.arange along k,"),
        (
            {"scalar_owner": "pid0 + " * 9 + "k", "loop_depth": 1},
            "put the lanes along an expression of program_id",
        ),
        ({"lane_stride": "2", "axes": axes(("D//2", "2"))}, "run of 2*(D//2) elements"),
        ({"lane_stride": "4", "axes": axes(("64", "4"))}, "run of 256 elements"),
        ({"scalar_owner": "pid0", "loop_depth": 1}, "put the lanes along pid0"),
        ({"reused": True, "loop_depth": 1}, "load it once before the loop"),
        ({"reused": True, "loop_depth": 1, "op": "store"}, "the last dimension of the output"),
        ({"lane_stride": "2", "axes": axes(("BLOCK", "2"))}, "run of 2*BLOCK elements as one tile"),
        ({"lane_stride": "4", "op": "store"}, "put the 4 parts together with tl.join"),
        ({"lane_stride": "2", "op": "atomic_add"}, "the last dimension of the output"),
        ({"lane_stride": "3"}, "keep the 3 parts in arrays of their own"),
        ({}, "make axis 0 the last dimension of the tensor (transpose it once where it is made)"),
        ({"op": "store"}, "make axis 0 the last dimension of the output"),
    ],
)
def test_the_one_way_out_that_fits(kw, said):
    assert said in way_out(access(**kw))
    assert "\n" not in way_out(access(**kw))


DESCRIPTOR_BY_ARGUMENT = """\
import torch
import triton
import triton.language as tl


@triton.jit
def copy(x_ptr, y_ptr, M, N, s_m, s_n, BM: tl.constexpr, BN: tl.constexpr):
    d = tl.make_tensor_descriptor(x_ptr, [M, N], [s_m, s_n], [BM, BN])
    t = d.load([0, 0])
    tl.store(y_ptr + tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :], t)


def launch():
    x = torch.randn((64, 64), device="cuda")
    y = torch.empty_like(x)
    copy[(1,)](x, y, 64, 64, x.stride(0), x.stride(1), 64, 64)
"""


@pytest.mark.parametrize(("made", "count"), [("", 0), (".t()", 1), ("[:, ::2]", 1)])
def test_a_descriptor_whose_stride_every_launch_makes_1(tmp_path, made, count):
    text = DESCRIPTOR_BY_ARGUMENT.replace('device="cuda")\n', f'device="cuda"){made}\n')
    (tmp_path / "k.py").write_text(text)
    told = run("--isolated", "--select", "CL403", "k.py", cwd=tmp_path)
    assert told.stdout.count("CL403") == count, told.stdout


def test_rule_pages_on_the_command_line():
    told = run("rule", "cl101")
    assert told.returncode == 0
    assert told.stdout.startswith("# CL101 strided-load (warning, on by default)\n")
    assert all(f"## {h}\n" in told.stdout for h in HEADINGS)
    assert run("rule", "CL10").stdout.count("## Evidence") == sum(code.startswith("CL10") for code in RULES)


def test_the_list_of_rules():
    told = run("rule", "--all")
    assert [line.split()[0] for line in told.stdout.splitlines()] == list(RULES)


@pytest.mark.parametrize("args", [[], ["CL77"], [""], ["CL101", "--all"]])
def test_a_wrong_question_about_rules(args):
    told = run("rule", *args)
    assert (told.returncode, told.stdout) == (2, "")
    assert len(told.stderr.splitlines()) == 1
