"""The package as a user gets it: built, installed into an empty environment, used from another folder."""

import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from support import ROOT, STRIDED

from coalesce_lint import __version__
from coalesce_lint.findings import all_rules


def call(*args, **kw):
    told = subprocess.run([str(a) for a in args], capture_output=True, text=True, **kw)
    assert told.returncode == kw.pop("expect", 0), told.stdout + told.stderr
    return told.stdout


def test_the_versions_agree():
    text = (ROOT / "pyproject.toml").read_text()
    assert re.search(r'^version = "(.+)"$', text, re.MULTILINE)[1] == __version__
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_every_package_is_listed():
    """setuptools is told the packages one by one; a folder that is forgotten is missing from the wheel."""
    text = (ROOT / "pyproject.toml").read_text()
    listed = set(re.findall(r'^    "(coalesce_lint[.\w]*)",$', text, re.MULTILINE))
    folders = {p.parent for p in (ROOT / "coalesce_lint").rglob("*.py")}
    expected = {".".join(f.relative_to(ROOT).parts) for f in folders} | {"coalesce_lint.rules"}
    assert listed == expected


@pytest.mark.slow
def test_a_wheel_in_an_empty_environment(tmp_path):
    copy = tmp_path / "source"
    names = ("pyproject.toml", "README.md", "LICENSE", "coalesce_lint", "rules")
    copy.mkdir()
    for name in names:  # built from a copy, so that no build folder is left in the source tree
        call("cp", "-r", ROOT / name, copy / name)
    call(sys.executable, "-m", "build", "--wheel", "--outdir", tmp_path / "dist", copy)
    (wheel,) = (tmp_path / "dist").glob("*.whl")

    venv.create(tmp_path / "venv", with_pip=True)
    bin = tmp_path / "venv" / "bin"
    call(bin / "python", "-m", "pip", "install", "-q", wheel)
    installed = call(bin / "python", "-m", "pip", "list").lower()
    assert "torch" not in installed and "triton" not in installed

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "k.py").write_text(STRIDED)
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    listed = call(bin / "coalesce-lint", "rule", "--all", cwd=elsewhere, env=env)
    assert [line.split()[0] for line in listed.splitlines()] == [r.code for r in all_rules()]
    told = subprocess.run(
        [bin / "coalesce-lint", "--isolated", "k.py", ROOT / "fixtures"],
        cwd=elsewhere,
        env=env,
        capture_output=True,
        text=True,
    )
    assert told.returncode == 1, told.stderr
    assert told.stdout.startswith(("k.py:9:9: CL101", str(ROOT)))
    assert "k.py:9:9: CL101" in told.stdout
    assert "Traceback" not in told.stderr
    plugins = call(
        bin / "python",
        "-c",
        "from importlib.metadata import entry_points; print(entry_points(group='flake8.extension'))",
        cwd=elsewhere,
        env=env,
    )
    assert "coalesce_lint.flake8_plugin:Plugin" in plugins
    where = call(
        bin / "python", "-c", "import coalesce_lint; print(coalesce_lint.__file__)", cwd=elsewhere, env=env
    )
    assert Path(where.strip()).is_relative_to(tmp_path / "venv")
