"""Rules that other packages offer by entry points of the group ``coalesce_lint.rules``."""

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec

import pytest
from support import CLEAN, ROOT, STRIDED, run

pytestmark = pytest.mark.slow
UNMASKED = "CLX101 [info] store to out_ptr has no mask"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder into which pip has installed the example package."""
    folder = tmp_path_factory.mktemp("installed")
    source = shutil.copytree(ROOT / "tests" / "example_rules", tmp_path_factory.mktemp("source") / "example")
    here = ["--no-build-isolation"] if find_spec("setuptools") else []
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", *here, "--target", folder, source]
    told = subprocess.run(command, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    return folder


def offer(folder, text, package="broken-rules", point="broken = broken_rules:Broken"):
    """Lays a package into ``folder`` as pip would leave it behind."""
    (folder / f"{package.replace('-', '_')}.py").write_text(text)
    info = folder / f"{package.replace('-', '_')}-2.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 2.0\n")
    (info / "entry_points.txt").write_text(f"[coalesce_lint.rules]\n{point}\n")


@pytest.fixture
def project(tmp_path, installed):
    (tmp_path / "a.py").write_text(STRIDED)
    (tmp_path / "b.py").write_text(CLEAN)
    extra = tmp_path / "extra"
    extra.mkdir()
    env = {"PYTHONPATH": os.pathsep.join([str(installed), str(extra)])}

    def lint(*args, **kw):
        return run(*args, cwd=tmp_path, env={**env, **kw.pop("env", {})}, **kw)

    lint.extra, lint.folder = extra, tmp_path
    return lint


def test_its_findings_are_among_the_others(project):
    told = project("--jobs", "2", "a.py", "b.py")
    assert "a.py:9:9: CL101" in told.stdout
    assert f"a.py:10:5: {UNMASKED}" in told.stdout and f"b.py:10:5: {UNMASKED}" in told.stdout
    assert told.returncode == 1
    assert told.stdout == project("a.py", "b.py").stdout
    assert "CLX101" not in run("--no-cache", "a.py", cwd=project.folder).stdout


def test_it_can_be_selected_and_silenced(project):
    assert project("--ignore", "CLX", "b.py").stdout == ""
    assert "CL101" not in project("--select", "CLX101", "a.py").stdout
    text = STRIDED.replace("axis=0))", "axis=0))  # noqa: CLX101 small")
    (project.folder / "a.py").write_text(text)
    assert "CLX101" not in project("a.py").stdout
    (project.folder / "pyproject.toml").write_text('[tool.coalesce-lint]\nselect = ["CLX"]\n')
    assert UNMASKED in project("b.py").stdout
    told = run("b.py", cwd=project.folder)
    assert (told.returncode, "no rule has a code that begins with 'CLX'" in told.stderr) == (2, True)


def test_it_has_a_page(project):
    assert "CLX101  unmasked-store" in project("rule", "--all").stdout
    assert "## Why is this bad" in project("rule", "CLX101").stdout
    (record,) = json.loads(project("rule", "CLX", "--format", "json").stdout)
    assert record["package"] == "example-rules" and record["sections"]["How to fix"]
    assert project("--format", "sarif", "b.py").stdout.count('"CLX101"') >= 1


def test_flake8_has_it_too(project, installed):
    command = [sys.executable, "-m", "flake8", "--enable-extensions", "CL", "--select", "CL", "a.py", "b.py"]

    def flake8():
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(installed), str(project.extra)])}
        told = subprocess.run(command, cwd=project.folder, env=env, capture_output=True, text=True)
        return told.stdout, told.stderr

    assert flake8() == (project("a.py", "b.py").stdout, "")
    assert "CLX101" in flake8()[0]
    offer(project.extra, "raise OSError('no such licence')")
    told = flake8()
    assert "CLX101" in told[0]
    assert told[1] == "coalesce-lint: rule 'broken' of broken-rules: left out: OSError: no such licence\n"


RULE = """\
from coalesce_lint.findings import Rule

class Broken(Rule):
    code = "{code}"
    name = "broken"
    summary = "a rule that is wrong"
    severity = "{severity}"

    def check_kernel(self, kernel):
        {body}
"""


def broken(code="CLY001", severity="info", body="return []"):
    return RULE.format(code=code, severity=severity, body=body)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("raise OSError('no such licence\\nmore')", "OSError: no such licence"),
        ("import nonexistent_module", "ModuleNotFoundError: No module named 'nonexistent_module'"),
        ("def f(:", "SyntaxError: invalid syntax"),
        ("x = 1", "AttributeError: module 'broken_rules' has no attribute 'Broken'"),
        ("Broken = 3", "broken_rules:Broken does not derive from coalesce_lint.findings.Rule"),
        (broken(code="x1"), "the code 'x1' is not capital letters with a number behind them"),
        (broken(severity="bad"), "the severity 'bad' is none of error, warning, info"),
        (broken(code="CL101"), "the code CL101 is taken by a rule of coalesce-lint"),
        (broken(code="CLX101"), "the code CLX101 is taken by a rule of example-rules"),
        (broken().replace("    summary", "    other"), "Broken has no summary"),
        (broken() + "    def __init__(self): raise SystemError('no')\n", "SystemError: no"),
    ],
)
def test_a_rule_that_cannot_be_used_is_told_in_one_line_and_the_rest_goes_on(project, text, why):
    offer(project.extra, text, "zz-rules" if "taken by a rule of example" in why else "broken-rules")
    if "example" in why:
        (project.extra / "broken_rules.py").write_text(text)
    told = project("a.py")
    assert "CL101" in told.stdout and "CLX101" in told.stdout
    problem, _ = told.stderr.splitlines()
    assert problem.startswith("coalesce-lint: rule 'broken' of ") and why in problem
    assert told.returncode == 2
    listed = project("rule", "--all")
    assert listed.returncode == 0 and listed.stderr.splitlines() == [problem]
    debug = project("a.py", env={"COALESCE_LINT_DEBUG": "1"})
    assert "Traceback" in debug.stderr


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("raise KeyError('x')", "failed in column_sum: KeyError: 'x'"),
        ("return 1 / 0", "failed in column_sum: ZeroDivisionError"),
        ("yield 3", "failed in column_sum: TypeError: not a finding of CLY001: 3"),
        ("return None", "failed in column_sum: TypeError"),
    ],
)
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_rule_that_fails_costs_its_own_findings_only(project, body, why, jobs):
    offer(project.extra, broken(body=body))
    for name in "cdef":
        (project.folder / f"{name}.py").write_text(STRIDED)
    for _ in range(2):  # the second from the cache, as far as it has any
        told = project("--jobs", jobs, ".")
        assert told.stdout.count("CL101") == 5 and told.stdout.count("CLX101") == 6
        problem, _ = told.stderr.splitlines()
        assert why in problem and "CLY001" in problem
        assert told.returncode == 2


def test_a_module_may_hold_several_rules(project):
    text = broken() + broken(code="CLY002").replace("class Broken", "class Other")
    offer(project.extra, text, point="broken = broken_rules")
    listed = project("rule", "--all").stdout
    assert "CLY001" in listed and "CLY002" in listed


def test_a_module_without_rules(project):
    offer(project.extra, "x = 1", point="broken = broken_rules")
    assert "has no class that derives from Rule" in project("rule", "--all").stderr


def test_the_result_cache_notices_changed_rules(project):
    offer(project.extra, broken())
    project("a.py")
    yields = "return [self.finding(a, 'seen') for a in kernel.accesses]"
    (project.extra / "broken_rules.py").write_text(broken(body=yields))
    assert project("a.py").stdout.count("CLY001") == 2
