"""The GitHub Action: its shell steps are run for real, by a small stand-in for GitHub's runner."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import jsonschema
import pytest
from support import CLEAN, ROOT, STRIDED

yaml = pytest.importorskip("yaml")
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS = ACTION["runs"]["steps"]


def test_it_is_a_composite_action_that_is_described():
    assert ACTION["runs"]["using"] == "composite"
    assert ACTION["name"] and ACTION["description"]
    for given in ACTION["inputs"].values():
        assert given["description"] and isinstance(given["default"], str)


def test_texts_of_the_workflow_never_go_into_a_script():
    for step in STEPS:
        assert "run" in step or "uses" in step
        if "run" in step:
            assert step["shell"] == "bash" and "${{" not in step["run"]


def test_every_name_is_declared_and_every_input_used():
    text = (ROOT / "action.yml").read_text()
    used = set(re.findall(r"inputs\.([\w-]+)", text))
    assert used == set(ACTION["inputs"])
    ids = {s["id"] for s in STEPS if "id" in s}
    assert set(re.findall(r"steps\.(\w+)\.", text)) == ids
    documented = (ROOT / "README.md").read_text()
    assert all(f"`{name}`" in documented for name in ACTION["inputs"])


def test_the_report_is_uploaded_unless_the_tool_failed():
    (upload,) = [s for s in STEPS if "upload-sarif" in s.get("uses", "")]
    assert upload["with"]["sarif_file"] == "${{ inputs.sarif-file }}"
    assert "exit-code != '2'" in upload["if"]


class Runner:
    """Runs the shell steps of the action in a workspace."""

    def __init__(self, temp, action, home):
        self.temp, self.action, self.home = temp, action, home

    def run(self, workspace, names=("Lint", "Result"), **inputs):
        """The exit codes, the output, the outputs and the summary of the steps ``names``."""
        assert not set(inputs) - {name.replace("-", "_") for name in ACTION["inputs"]}
        values = {n: inputs.get(n.replace("-", "_"), i["default"]) for n, i in ACTION["inputs"].items()}
        output, summary = self.temp / "output", self.temp / "summary"
        output.write_text("")
        summary.write_text("")
        codes, told = [], ""
        for step in STEPS:
            if step.get("name") not in names:
                continue
            outputs = dict(line.split("=", 1) for line in output.read_text().splitlines())

            def expand(text, outputs=outputs):
                text = re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda m: values[m[1]], text)
                return re.sub(r"\$\{\{ steps\.lint\.outputs\.([\w-]+) \}\}", lambda m: outputs[m[1]], text)

            script = self.temp / "script.sh"
            script.write_text(step["run"])
            clean = {
                k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG") or "PROXY" in k.upper()
            }
            clean |= {k: v for k, v in os.environ.items() if k.startswith(("PIP_", "UV_", "SSL_"))}
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
                cwd=workspace,
                env={
                    **clean,
                    "GITHUB_ACTION_PATH": str(self.action),
                    "GITHUB_OUTPUT": str(output),
                    "GITHUB_STEP_SUMMARY": str(summary),
                    "GITHUB_WORKSPACE": str(workspace),
                    "RUNNER_TEMP": str(self.temp),
                    "GITHUB_ACTIONS": "true",
                    "CI": "true",
                    **{k: expand(v) for k, v in step.get("env", {}).items()},
                },
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=600,
            )
            codes.append(done.returncode)
            told += done.stdout
        return codes, told, summary.read_text()


@pytest.fixture(scope="module")
def runner(tmp_path_factory):
    """A runner on which the install step was run, with a copy of the package as the action."""
    temp = tmp_path_factory.mktemp("runner")
    action = tmp_path_factory.mktemp("action") / "coalesce-lint"
    action.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "coalesce_lint", "rules", "action.yml"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, action / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, action / name)
    runner = Runner(temp, action, temp)
    codes, told, _ = runner.run(temp, ["Install coalesce-lint"])
    assert codes == [0], told
    assert Path(temp, "coalesce-lint", "bin", "coalesce-lint").is_file()
    return runner


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "strided.py").write_text(STRIDED)
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b" / "clean.py").write_text(CLEAN)
    return tmp_path


@pytest.mark.slow
def test_findings_fail_the_job_after_the_report(runner, workspace):
    codes, told, summary = runner.run(workspace)
    assert codes == [0, 1], told
    report = json.loads((workspace / "coalesce-lint.sarif").read_text())
    schema = json.loads((ROOT / "tests" / "data" / "sarif-schema-2.1.0.json").read_text())
    jsonschema.validate(report, schema)
    assert [r["ruleId"] for r in report["runs"][0]["results"]] == ["CL101"]
    assert "::warning title=coalesce-lint CL101 strided-load,file=src/strided.py,line=9,col=9" in told
    assert "::error::coalesce-lint has findings" in told
    assert "src/strided.py:9:9: CL101" in summary and "2 files (2 parsed)" in summary


@pytest.mark.slow
def test_inputs(runner, workspace):
    codes, told, _ = runner.run(workspace, paths="'a b' src/none.py")
    assert codes == [0, 2], told
    codes, told, _ = runner.run(workspace, paths="'a b'", sarif_file="out.sarif")
    assert codes == [0, 0] and (workspace / "out.sarif").is_file()
    codes, told, _ = runner.run(workspace, fail_on_findings="false", annotate="false")
    assert codes == [0, 0] and "::warning" not in told
    codes, told, _ = runner.run(workspace, args="--ignore CL101")
    assert codes == [0, 0], told
    codes, told, _ = runner.run(workspace, args="--select CL999")
    assert codes == [0, 2] and "could not do its work" in told


@pytest.mark.slow
def test_inputs_are_never_run(runner, workspace):
    for text in ("$(touch ran)", "`touch ran`", "; touch ran", "x && touch ran", '"; touch ran; "'):
        codes, _, _ = runner.run(workspace, paths=text)
        assert codes == [0, 2]
        runner.run(workspace, args=text)
    assert not (workspace / "ran").exists()
