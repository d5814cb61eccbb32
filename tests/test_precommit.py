"""The hook, run by the real pre-commit on a scratch repository."""

import os
import shutil
import subprocess
import sys

import pytest
from support import CLEAN, ROOT, STRIDED

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("git") is None, reason="needs git"),
]


def clean_environment(home):
    """No settings of the user's git or of a hook that runs these tests, and a cache of our own."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    identity = {f"GIT_{who}_{what}": "t" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    return {**env, **identity, "PRE_COMMIT_HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull}


@pytest.fixture(scope="module")
def hooks(tmp_path_factory):
    """The package as a git repository of one commit, and the environment to call git and pre-commit in."""
    folder = tmp_path_factory.mktemp("hooks")
    env = clean_environment(folder / "cache")
    repo = folder / "coalesce-lint"
    repo.mkdir()
    for name in (
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "coalesce_lint",
        "rules",
        ".pre-commit-hooks.yaml",
    ):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, repo / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, repo / name)
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "hooks"]):
        subprocess.run(["git", *command], cwd=repo, env=env, check=True)
    rev = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=repo, env=env, check=True, capture_output=True, text=True
    )
    return repo, rev.stdout.strip(), env


@pytest.fixture
def project(tmp_path, hooks):
    """A repository that uses the hook; returns a function that stages files and runs pre-commit on them."""
    repo, rev, env = hooks
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, env=env, check=True)
    config = f"repos:\n- repo: {repo}\n  rev: {rev}\n  hooks:\n  - id: coalesce-lint\n"

    def commit(contents, folder=".", config=config):
        (tmp_path / ".pre-commit-config.yaml").write_text(config)
        for name, text in contents.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        subprocess.run(["git", "add", "."], cwd=tmp_path, env=env, check=True)
        command = [sys.executable, "-m", "pre_commit", "run", "--color", "never"]
        return subprocess.run(
            command, cwd=tmp_path / folder, env=env, capture_output=True, text=True, timeout=600
        )

    commit.config = config
    return commit


def test_findings_stop_the_commit_and_settings_are_found(project):
    told = project({"sub/k.py": STRIDED})
    assert told.returncode == 1, told.stdout + told.stderr
    assert "sub/k.py:9:9: CL101" in told.stdout
    told = project({"pyproject.toml": '[tool.coalesce-lint]\nexclude = ["sub/"]\n'})
    assert told.returncode == 0, told.stdout + told.stderr


def test_settings_are_found_from_sub_folders(project):
    told = project(
        {"sub/deep/k.py": STRIDED, "pyproject.toml": '[tool.coalesce-lint]\nexclude = ["/sub/deep/"]\n'},
        folder="sub",
    )
    assert told.returncode == 0, told.stdout + told.stderr
    # the nearest table counts, here that of a project inside the repository
    told = project({"sub/pyproject.toml": '[tool.coalesce-lint]\noutput-format = "github"\n'}, folder="sub")
    assert "::warning" in told.stdout and "file=sub/deep/k.py" in told.stdout
    told = project({"sub/pyproject.toml": "[tool.coalesce-lint]\nselct = []\n"}, folder="sub/deep")
    assert told.returncode == 1 and "unknown setting 'selct'" in told.stdout
    given = project.config + "    args: [--config, pyproject.toml]\n"
    assert project({}, config=given).returncode == 0


def test_all_files_go_to_one_process(project):
    """A kernel and what launches it are in different files; with many files, too, both are in one call."""
    files = {f"pkg/plain{n}.py": "x = 1\n" for n in range(300)}
    kernel = STRIDED.replace("rows * n_cols + col", "rows * n_cols").replace("column_sum", "rows_of")
    host = (
        "import torch\nfrom pkg.kernel import rows_of\n\n\ndef run():\n"
        '    x = torch.empty(64, 4096, device="cuda")\n'
        "    rows_of[(1,)](x, x.sum(1), 64, x.stride(0), BLOCK=64)\n"
    )
    told = project({**files, "pkg/kernel.py": kernel, "zz.py": host})
    assert told.stdout.count("CL201") == 1, told.stdout + told.stderr


def test_quiet_when_there_is_nothing_to_say(project):
    told = project({"sub/k.py": CLEAN, "plain.py": "print('no kernel')\n"})
    assert told.returncode == 0, told.stdout + told.stderr
    assert told.stdout.splitlines()[-1].endswith("Passed")
    assert "coalesce-lint:" not in told.stdout


def test_quiet_when_nothing_qualifies(project):
    told = project({"readme.txt": "no Python at all\n"})
    assert told.returncode == 0, told.stdout + told.stderr
    assert "Skipped" in told.stdout
    assert "Traceback" not in told.stdout + told.stderr
