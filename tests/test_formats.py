"""The formats of findings, each read by who it is meant for, or by a validator of its schema."""

import json
from xml.etree import ElementTree

import jsonschema
import pytest
from support import ROOT, STRIDED, run

from coalesce_lint.settings import FORMATS

NAME = "ev\x1bil,:%\n é.py"


@pytest.fixture
def project(tmp_path):
    (tmp_path / "strided.py").write_text(STRIDED)
    (tmp_path / NAME).write_text(STRIDED.replace("x_ptr", "größe"))
    (tmp_path / "broken.py").write_text("import triton\n@triton.jit\ndef f(:\n")
    return tmp_path


def lint(form, cwd, *args):
    return run("--isolated", "--format", form, *(args or (".", "gone.py")), cwd=cwd)


@pytest.mark.parametrize("form", FORMATS)
def test_no_format_lets_control_characters_through(project, form):
    told = lint(form, project)
    assert told.returncode == 2
    assert "Traceback" not in told.stderr
    allowed = {"\n"}
    assert not [c for c in told.stdout + told.stderr if ord(c) < 32 and c not in allowed]


@pytest.mark.parametrize("form", FORMATS)
def test_findings_may_go_to_a_file(project, form):
    told = lint(form, project, ".", "--output-file", "out.txt", "--exit-zero")
    assert (told.returncode, told.stdout) == (0, "")
    written = (project / "out.txt").read_text(encoding="utf-8")
    assert "CL101" in written
    assert "\x1b" not in written
    (project / "out.txt").unlink()
    assert lint(form, project, ".").stdout.splitlines()[-1] == written.splitlines()[-1]


def test_an_output_file_that_cannot_be_written(project):
    told = lint("concise", project, ".", "-o", "no/such/folder/x")
    assert told.returncode == 2
    assert told.stderr.startswith("coalesce-lint: --output-file no/such/folder/x: No such file")


def test_json_lines(project):
    told = [json.loads(line) for line in lint("json-lines", project).stdout.splitlines()]
    assert told == json.loads(lint("json", project).stdout)["findings"]
    assert [f["code"] for f in told] == ["CL901", "CL101", "CL101"]


def test_sarif_is_valid(project):
    document = json.loads(lint("sarif", project).stdout)
    schema = json.loads((ROOT / "tests/data/sarif-schema-2.1.0.json").read_text())
    jsonschema.Draft7Validator(schema).validate(document)
    (log,) = document["runs"]
    assert [r["ruleId"] for r in log["results"]] == ["CL901", "CL101", "CL101"]
    assert [log["tool"]["driver"]["rules"][r["ruleIndex"]]["id"] for r in log["results"]] == [
        r["ruleId"] for r in log["results"]
    ]
    assert [r["level"] for r in log["results"]] == ["error", "warning", "warning"]
    assert log["invocations"][0]["executionSuccessful"] is False
    assert "gone.py" in log["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
    strided = log["results"][2]
    place = strided["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "strided.py", "uriBaseId": "ROOT"}
    assert place["region"] == {"startLine": 9, "startColumn": 9, "endLine": 9, "endColumn": 76}
    assert strided["locations"][0]["logicalLocations"][0]["name"] == "column_sum"
    (flow,) = strided["codeFlows"][0]["threadFlows"]
    lines = [x["location"]["physicalLocation"]["region"]["startLine"] for x in flow["locations"]]
    assert lines == [7, 8, 9]
    texts = [x["message"]["text"] for x in strided["relatedLocations"]]
    assert texts == ["the program's place", "the lanes"]


def test_a_sarif_fingerprint_survives_a_move(project):
    def fingerprints():
        results = json.loads(lint("sarif", project, "strided.py").stdout)["runs"][0]["results"]
        return [r["partialFingerprints"] for r in results]

    before = fingerprints()
    (project / "strided.py").write_text("\n\n# moved\n" + STRIDED)
    assert fingerprints() == before
    (project / "strided.py").write_text(STRIDED.replace("rows * n_cols", "rows * n_cols * 2"))
    assert fingerprints() != before


def test_github(project):
    lines = lint("github", project).stdout.splitlines()
    assert lines[0].startswith("::error title=coalesce-lint CL901 unparsable-file,file=broken.py,line=3,col=")
    assert "file=ev\\x1bil%2C%3A%25\\x0a é.py,line=9,col=9,endLine=9,endColumn=76::" in lines[1]
    assert lines[2].startswith(
        "::warning title=coalesce-lint CL101 strided-load,file=strided.py,line=9,col=9,"
    )
    assert "::strided.py:9:9: CL101 load of x_ptr is strided" in lines[2]


def test_gitlab(project):
    told = json.loads(lint("gitlab", project).stdout)
    assert [i["severity"] for i in told] == ["major", "minor", "minor"]
    assert {"description", "check_name", "fingerprint", "severity", "location"} == set(told[0])
    assert told[2]["location"]["path"] == "strided.py"
    assert told[2]["location"]["positions"]["begin"] == {"line": 9, "column": 9}
    assert len({i["fingerprint"] for i in told}) == 3


def test_junit(project):
    told = lint("junit", project).stdout
    suites = ElementTree.fromstring(told.encode())
    (suite,) = suites
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("4", "3", "1")
    assert [case.get("name") for case in suite][2:] == ["strided.py", "gone.py"]
    (failure,) = suite[2]
    assert failure.get("type") == "CL101"
    assert failure.text.startswith("strided.py:9:9: CL101 load of x_ptr")
    (project / "clean.py").write_text("")
    (empty,) = ElementTree.fromstring(lint("junit", project, "clean.py").stdout.encode())
    assert (empty.get("tests"), empty.get("failures")) == ("1", "0")


def test_full(project):
    told = lint("full", project, "strided.py").stdout
    assert told.splitlines()[1:] == [
        " --> strided.py:9:9",
        "7 |     col = tl.program_id(0)",
        "  |     ---------------------- the program's place",
        "8 |     rows = tl.arange(0, BLOCK)",
        "  |     -------------------------- the lanes",
        "9 |     x = tl.load(x_ptr + rows * n_cols + col, mask=rows < n_rows, other=0.0)",
        "  |         " + "^" * 67 + " multiplier n_cols along axis 0",
        "",
    ]


def test_full_with_tabs_wide_lines_and_several_lines(project):
    text = STRIDED.replace("    ", "\t").replace("x_ptr + rows", "x_ptr\n\t\t+ rows")
    (project / "tabs.py").write_text(text + "# " + "x" * 500)
    told = lint("full", project, "tabs.py").stdout.splitlines()
    assert " 9 |     x = tl.load(x_ptr" in told
    assert "   |         ^^^^^^^^^^^^^ multiplier n_cols along axis 0" in told
    lines = STRIDED.replace("tl.load(x_ptr", "tl.load(" + " " * 300 + "x_ptr")
    (project / "wide.py").write_text(lines)
    assert all(len(line) <= 170 for line in lint("full", project, "wide.py").stdout.splitlines()[1:])


def test_statistics(project):
    told = lint("concise", project, ".", "--statistics")
    assert told.stderr.splitlines()[:2] == ["2  CL101  strided-load", "1  CL901  unparsable-file"]
    assert json.loads(lint("json", project, ".", "--statistics").stdout)["summary"]["findings"] == 3


def test_severity_and_confidence_are_told_where_they_are_unusual(project):
    lines = lint("concise", project).stdout.splitlines()
    assert lines[0].startswith("broken.py:3:") and " CL901 [error] not checked" in lines[0]
    assert " CL101 load of" in lines[2]
