import json

import pytest
from support import access, kernel

from coalesce_lint.access import Axis, Call, Cost, FileError, Place
from coalesce_lint.check import Counts, Outcome
from coalesce_lint.files import Problem
from coalesce_lint.findings import Finding
from coalesce_lint.output import concise, explain
from coalesce_lint.output import json as json_output
from coalesce_lint.output.lanes import draw
from coalesce_lint.output.text import printable


def finding(**kw):
    values = {
        "code": "CL101",
        "name": "strided-load",
        "place": Place("k.py", 5, 8, 5, 40),
        "message": "apart",
    }
    return Finding(**{**values, **kw})


def test_a_concise_line_counts_columns_from_one():
    assert concise.render(Outcome([finding()]), False) == "k.py:5:9: CL101 apart\n"


def test_colour_only_where_asked_for():
    assert "\x1b" not in concise.render(Outcome([finding()]), False)
    assert "\x1b[1;33mCL101\x1b[0m" in concise.render(Outcome([finding()]), True)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain.py", "plain.py"),
        ("größe.py", "größe.py"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("two\nlines", "two\\x0alines"),
        ("back\x08space\x7f", "back\\x08space\\x7f"),
        ("csi\x9b1m", "csi\\x9b1m"),
        ("right\u202eleft", "right\\u202eleft"),
        ("line\u2028end", "line\\u2028end"),
        ("byte\udcff", "byte\\xff"),
    ],
)
def test_control_characters_never_reach_the_terminal(text, shown):
    assert printable(text) == shown


def test_control_characters_in_a_path_and_a_message():
    out = concise.render(
        Outcome([finding(place=Place("a\x1b]0;x\x07.py", 1, 0), message="of \x1b[2J")]), False
    )
    assert out == "a\\x1b]0;x\\x07.py:1:1: CL101 of \\x1b[2J\n"


def test_check_json_has_every_field_of_the_contract():
    a = access(call_chain=[Call("caller", Place("k.py", 20, 4))])
    found = finding(
        access=a, kernel="kernel", pointer="x_ptr", related=[(Place("k.py", 20, 4), "called from caller")]
    )
    outcome = Outcome([found], [Problem("gone.py", "no such file or folder")], Counts(files=2, kernels=1))
    told = json.loads(json_output.render(outcome, True))
    assert told["schema"] == 1
    assert set(told) == {"schema", "tool", "findings", "errors", "summary"}
    assert set(told["findings"][0]) == {
        *(
            "path",
            "line",
            "column",
            "end_line",
            "end_column",
            "code",
            "name",
            "severity",
            "confidence",
            "message",
        ),
        *("kernel", "pointer", "related", "access"),
    }
    assert told["findings"][0]["column"] == 8
    assert told["findings"][0]["related"] == [
        {"path": "k.py", "line": 20, "column": 4, "message": "called from caller"}
    ]
    assert told["findings"][0]["access"]["lane_stride"] == "n_cols"
    assert told["errors"] == [{"path": "gone.py", "line": 0, "message": "no such file or folder"}]
    assert told["summary"]["files"] == 2
    assert told["summary"]["findings"] == 1


def test_explain_json_has_every_field_of_the_contract():
    cost = Cost(4, 4, 0, "n_cols", 2, 32.0, 4.0, 0.125, 256, None, "stride")
    text = json_output.render_kernels([kernel(access(cost=cost))], [FileError("bad.py", 3, "invalid syntax")])
    told = json.loads(text)
    assert set(told) == {"schema", "tool", "kernels", "errors"}
    assert told["tool"].startswith("coalesce-lint ")
    assert told["errors"] == [{"path": "bad.py", "line": 3, "message": "invalid syntax"}]
    (k,) = told["kernels"]
    assert set(k) == {"path", "name", "line", "accesses"}
    (a,) = k["accesses"]
    assert set(a) == {
        *(
            "path",
            "line",
            "column",
            "end_line",
            "end_column",
            "op",
            "pointer",
            "offset",
            "pattern",
            "lane_axis",
        ),
        *("lane_stride", "condition", "axes", "notes", "reason", "call_chain", "launches", "cost"),
        "assumed_cost",
    }
    assert a["axes"] == [{"axis": 0, "extent": "256", "stride": "n_cols"}]
    assert {"element_bytes", "sectors_per_request", "ideal_sectors_per_request", "limited_by"} <= set(
        a["cost"]
    )


def drawn(pattern, **kw):
    return draw(access(pattern, **kw))


@pytest.mark.parametrize(
    ("kw", "drawing"),
    [
        ({"lane_stride": "1"}, "|01234567|89abcdef|ghijklmn|opqrstuv|"),
        ({"lane_stride": "-1", "notes": ["reversed"]}, "|vutsrqpo|nmlkjihg|fedcba98|76543210|"),
        ({"lane_stride": "1", "notes": ["run=4"]}, "|0123....|4567....|89ab....|cdef....|... 8 sectors"),
        ({"lane_stride": "1", "notes": ["repeat=8"]}, "|08go....|"),
        (
            {"lane_stride": "1", "notes": ["misaligned(+1)"]},
            "|.0123456|789abcde|fghijklm|nopqrstu|... 5 sectors",
        ),
        ({"lane_stride": "1", "notes": ["rows=gather"]}, "|01234567|89abcdef|ghijklmn|opqrstuv|"),
        ({"lane_stride": "1", "axes": [Axis(0, "4", "1")]}, "|0123....|"),
    ],
)
def test_lanes_of_a_contiguous_access(kw, drawing):
    assert drawn("contiguous", **kw) == drawing


@pytest.mark.parametrize(
    ("stride", "drawing"),
    [
        ("2", "|0.1.2.3.|4.5.6.7.|8.9.a.b.|c.d.e.f.|... 8 sectors"),
        ("3", "|0..1..2.|.3..4..5|..6..7..|8..9..a.|... 12 sectors"),
        ("8", "|0.......|1.......|2.......|3.......|... 32 sectors"),
        ("4096", "|0.......|1.......|2.......|3.......|... 32 sectors"),
        ("n_cols", "|0.......|1.......|2.......|3.......|... 32 sectors"),
    ],
)
def test_lanes_of_a_strided_access(stride, drawing):
    assert drawn("strided", lane_stride=stride) == drawing


def test_lanes_of_other_verdicts():
    assert drawn("uniform", lane_axis=None, lane_stride=None, axes=[]) == "|0.......|"
    assert drawn("gather", lane_stride=None) == "|?|?|?|?|..."
    assert drawn("unknown", lane_axis=None, lane_stride=None) == "|?|?|?|?|..."
    both = drawn("parametric", lane_stride="stride_xn", condition="stride_xn == 1")
    assert both == (
        "|01234567|89abcdef|ghijklmn|opqrstuv| if stride_xn == 1, "
        "else |0.......|1.......|2.......|3.......|... 32 sectors"
    )


def test_a_pinned_element_size_changes_the_drawing():
    cost = Cost(2, 2, 0, "1", 1, 2.0, 2.0, 1.0, None, None, None)
    assert drawn("contiguous", lane_stride="1", cost=cost) == "|0123456789abcdef|ghijklmnopqrstuv|"


def test_explain_tells_everything_of_an_access():
    a = access(
        source="tl.load(x_ptr + rows * n_cols + pid)",
        lane_term="n_cols*i0",
        reason="pid0 owns the unit stride",
        notes=["branch"],
        call_chain=[Call("caller", Place("k.py", 20, 4))],
    )
    text = explain.render([kernel(a)], False)
    assert text == (
        "k.py:3: kernel: 1 access (1 strided)\n\n"
        "  5:9: load x_ptr: strided\n"
        "    source   tl.load(x_ptr + rows * n_cols + pid)\n"
        "    offset   n_cols*i0 + pid0\n"
        "    lanes    n_cols*i0  (axis 0, multiplier n_cols)\n"
        "    axis 0   extent 256, stride n_cols\n"
        "    why      pid0 owns the unit stride\n"
        "    notes    branch\n"
        "    called   from caller at k.py:20:5\n"
        "    sectors  |0.......|1.......|2.......|3.......|... 32 sectors\n\n" + explain.LEGEND
    )


def test_explain_shows_the_cost_and_the_condition():
    cost = Cost(4, 4, 0, "n_cols", 2, 32.0, 4.0, 0.125, 256, None, "stride")
    text = explain.render([kernel(access("parametric", cost=cost, condition="n_cols == 1"))], False)
    assert "    if       n_cols == 1\n" in text
    assert (
        "    cost     32 sectors a request (ideal 4), 2 requests a warp of 4 bytes a thread, "
        "efficiency 12.5 %, 256 sectors a program; limited by stride\n"
    ) in text


def test_an_access_in_another_file_is_shown_with_its_path():
    assert "  helpers.py:7:1: load" in explain.render(
        [kernel(access(place=Place("helpers.py", 7, 0)))], False
    )


def test_explain_assumes_four_bytes_and_says_so():
    assert "Elements of 4 bytes are assumed" in explain.render([kernel(access())], False)


@pytest.mark.parametrize(
    ("term", "drawing"),
    [
        ("2*i0", "|0.1.2.3.|4.5.6.7.|8.9.a.b.|c.d.e.f.|... 8 sectors"),
        ("-i0", "|vutsrqpo|nmlkjihg|fedcba98|76543210|"),
        ("-4*((1 + i0)//2) + 3*i0", "|10325476|98badcfe|hgjilknm|porqtsvu|"),
        ("4*(i0//4)", "|0...4...|8...c...|g...k...|o...s...|"),
        ("n_cols*i0", "|0.......|1.......|2.......|3.......|... 32 sectors"),
        ("2**i0", "|0.......|1.......|2.......|3.......|... 32 sectors"),
        ("i0//0", "|0.......|1.......|2.......|3.......|... 32 sectors"),
    ],
)
def test_a_term_of_numbers_is_drawn_as_it_is(term, drawing):
    assert drawn("strided", lane_term=term) == drawing
