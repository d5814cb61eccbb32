"""Completion in the shell, as the README says to turn it on, and the help of each verb."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT, STRIDED, run

from coalesce_lint.cli import cli
from coalesce_lint.findings import all_rules

SCRIPT = """
PATH="{bin}:$PATH"
eval "$(_COALESCE_LINT_COMPLETE=bash_source coalesce-lint)"
COMP_WORDS=({words})
COMP_CWORD={last}
_coalesce_lint_completion coalesce-lint 2>/dev/null
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def complete(*words, cwd=None):
    """What bash offers for the last of ``words``."""
    quoted = " ".join(f"'{w}'" for w in ("coalesce-lint", *words))
    script = SCRIPT.format(bin=Path(sys.executable).parent, words=quoted, last=len(words))
    told = subprocess.run(["bash", "-c", script], cwd=cwd, capture_output=True, text=True, timeout=60)
    return told.stdout.split()


bash = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


@bash
def test_verbs_options_and_their_values():
    assert complete("ex") == ["explain"]
    assert set(complete("")) >= set(cli.commands)
    assert set(complete("check", "--ex")) == {"--extend-select", "--exit-zero"}
    assert "sarif" in complete("check", "--format", "")
    assert complete("check", "--format", "jun") == ["junit"]
    assert complete("some/path", "--stat") == ["--statistics"]  # check is meant


@bash
def test_codes_of_rules():
    assert complete("rule", "CL10") == [r.code for r in all_rules() if r.code.startswith("CL10")]
    assert complete("check", "--select", "cl901") == ["CL901"]
    assert complete("check", "--select", "CL101,CL90") == ["CL101,CL901", "CL101,CL902"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_for_all_shells(shell):
    told = run(env={"_COALESCE_LINT_COMPLETE": f"{shell}_source"})
    assert told.returncode == 0 and "coalesce-lint" in told.stdout and told.stderr == ""


@pytest.mark.parametrize("verb", cli.commands)
def test_the_help_of_a_verb(verb):
    told = run(verb, "--help")
    assert told.returncode == 0 and told.stderr == ""
    assert told.stdout.startswith(f"Usage: coalesce-lint {verb} ")
    assert "Exit code:" in told.stdout and "Show this message and exit." in told.stdout
    for parameter in cli.commands[verb].params:
        if parameter.param_type_name == "option":
            assert parameter.help, parameter.name


@pytest.mark.parametrize("verb", ["check", "explain"])
def test_the_examples_of_a_help_are_accepted(verb, tmp_path):
    """Their options, that is: each is run on a file of the name that it gives."""
    subprocess.run(["git", "init", "-q", "-b", "main", tmp_path], check=True)
    (tmp_path / "src").mkdir()
    for name in ("k.py", "host.py", "src/k.py"):
        (tmp_path / name).write_text(STRIDED)
    identity = ["-c", "user.name=t", "-c", "user.email=t@t"]
    subprocess.run(["git", "-C", tmp_path, *identity, "add", "."], check=True)
    subprocess.run(["git", "-C", tmp_path, *identity, "commit", "-q", "-m", "m"], check=True)
    section = run(verb, "--help").stdout.split("Examples:\n")[1].split("\n\n")[0]
    examples = [line.strip().split("  ")[0] for line in section.splitlines()]
    assert len(examples) >= 3
    for example in examples:
        told = run(*example.split()[1:], cwd=tmp_path)
        assert told.returncode in (0, 1), (example, told.stderr)


def test_as_a_module():
    told = subprocess.run(
        [sys.executable, "-m", "coalesce_lint", "--version"], capture_output=True, text=True, cwd=ROOT
    )
    assert told.stdout.startswith("coalesce-lint ")
