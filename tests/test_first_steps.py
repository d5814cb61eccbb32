"""The steps of the README's "In your own project", exactly as written, in a fresh environment."""

import os
import re
import shutil
import subprocess
import venv

import pytest
from support import ROOT

pytestmark = pytest.mark.slow
#: A kernel with the line that the README silences, and a second finding.
KERNELS = """\
import triton
import triton.language as tl


@triton.jit
def column_sum(x_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    col = tl.program_id(0)
    rows = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + rows * n_cols + col)
    tl.store(out_ptr + col, tl.sum(x, axis=0))


@triton.jit
def scatter(x_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    col = tl.program_id(0)
    rows = tl.arange(0, BLOCK)
    tl.store(out_ptr + rows * n_cols + col, tl.load(x_ptr + rows))
"""


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """The repository in a folder of its own, with the environment that the README's first command makes."""
    clone = tmp_path_factory.mktemp("clone") / "coalesce-lint"
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, check=True).stdout
    for name in os.fsdecode(listed).split("\0"):
        if name and (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, clone / name)
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "c"]):
        identity = ["-c", "user.name=t", "-c", "user.email=t@t"]
        subprocess.run(["git", "-C", clone, *identity, *command], check=True)
    first = re.search(r"^## Quick start\n.*?^```sh\n(.+?)\n```", README, re.MULTILINE | re.DOTALL)[1]
    assert len(first.splitlines()) == 1  # the command, not the rest of the README
    told = bash(first, clone)
    assert told.returncode == 1 and " CL101 " in told.stdout, told.stderr
    return clone


README = (ROOT / "README.md").read_text()
STEPS = re.findall(
    r"^```(\w+)\n(.*?)^```", README.split("## In your own project\n")[1].split("\n## ")[0], re.M | re.S
)


def bash(script, cwd, path=None):
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV") and k[:4] != "GIT_"}
    env = {**kept, "PATH": f"{path}:{os.environ['PATH']}" if path else os.environ["PATH"]}
    return subprocess.run(
        ["bash", "-c", script], cwd=cwd, env=env, capture_output=True, text=True, timeout=900
    )


def test_there_are_all_steps():
    assert [language for language, _ in STEPS] == ["bash", "toml", "python", "bash", "yaml"]


def test_a_new_user(clone, tmp_path):
    (_, first), (_, settings), (_, silenced), (_, baseline), (_, hook) = STEPS
    programs = clone / ".venv" / "bin"
    (tmp_path / "src").mkdir()
    kernels = tmp_path / "src" / "kernels.py"
    kernels.write_text(KERNELS)
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "mine"\n')

    told = bash(first, tmp_path, programs)
    assert [line.split()[:2] for line in told.stdout.splitlines()] == [
        ["src/kernels.py:9:9:", "CL101"],
        ["src/kernels.py:17:5:", "CL102"],
    ]
    assert told.stderr == "coalesce-lint: 1 file (1 parsed), 2 kernels, 4 accesses, 0 unknown, 2 findings\n"

    with open(tmp_path / "pyproject.toml", "a") as file:
        file.write(settings)
    effective = bash("coalesce-lint config", tmp_path, programs)
    assert "CL107" in effective.stdout and effective.stderr == ""

    line = silenced.split("  #")[0].rstrip("\n")
    assert KERNELS.count(line + "\n") == 1
    kernels.write_text(KERNELS.replace(line + "\n", silenced))
    told = bash(first, tmp_path, programs)
    assert "CL101" not in told.stdout and "(1 suppressed)" in told.stderr

    told = bash(baseline, tmp_path, programs)
    assert (told.returncode, told.stdout) == (0, ""), told.stdout + told.stderr
    assert "1 finding written to known.json" in told.stderr and "1 in the baseline" in told.stderr

    rev = bash("git rev-parse HEAD", clone).stdout.strip()
    hook = hook.replace("PATH_OR_ADDRESS_OF_THIS_REPOSITORY", str(clone)).replace("TAG_OR_COMMIT", rev)
    (tmp_path / ".pre-commit-config.yaml").write_text(hook)
    venv.create(tmp_path.parent / "tools", with_pip=True)
    tools = tmp_path.parent / "tools" / "bin"
    assert bash("pip install -q pre-commit", tmp_path, tools).returncode == 0
    command = f"git init -q && git add . && PRE_COMMIT_HOME={tmp_path.parent}/home pre-commit run --all-files"
    told = bash(command, tmp_path, tools)
    assert told.returncode == 1 and "src/kernels.py:17:5: CL102" in told.stdout, told.stdout + told.stderr
    assert "CL101" not in told.stdout
