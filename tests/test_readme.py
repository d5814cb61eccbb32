"""The README's examples say what the tool says. ``python tests/test_readme.py`` writes them anew."""

import re
import shlex

import pytest
from support import ROOT, run

from coalesce_lint.findings import all_rules

README = ROOT / "README.md"
EXAMPLE = re.compile(r"^```console\n\$ coalesce-lint (.+)\n((?:.*\n)*?)```$", re.MULTILINE)


def output(command: str) -> str:
    told = run(*shlex.split(command), cwd=ROOT)
    return told.stdout + told.stderr


@pytest.mark.parametrize(("command", "shown"), EXAMPLE.findall(README.read_text()))
def test_an_example(command, shown):
    assert output(command) == shown


def test_there_are_examples():
    assert len(EXAMPLE.findall(README.read_text())) == 2


def test_every_rule_is_listed_with_its_default():
    text = README.read_text()
    for rule in all_rules():
        assert re.search(
            rf"^\| {rule.code} \| .+ \| {'on' if rule.default else 'off'} \|$", text, re.MULTILINE
        )


def test_the_test_command_of_the_readme_is_what_ci_runs():
    commands = re.findall(r"^```sh\n(.+)\n```$", README.read_text(), re.MULTILINE)
    assert len(commands) == 2
    assert (ROOT / ".ci" / "run").read_text().rstrip().endswith(f"\n{commands[1]}")


if __name__ == "__main__":
    text = EXAMPLE.sub(lambda m: f"```console\n$ coalesce-lint {m[1]}\n{output(m[1])}```", README.read_text())
    README.write_text(text)
