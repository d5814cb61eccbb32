"""Known findings, and findings in what changed only."""

import json
import subprocess

import pytest
from support import CLEAN, STRIDED, run


@pytest.fixture
def project(tmp_path):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "k.py").write_text(STRIDED)
    return tmp_path


def lint(*args, cwd):
    told = run(*(args or (".",)), cwd=cwd)
    return [line.split(":")[0:2] for line in told.stdout.splitlines()], told


def test_known_findings_are_left_out(project):
    told = run("--write-baseline", "known.json", ".", cwd=project)
    assert (told.returncode, told.stdout) == (0, "")
    assert told.stderr == "coalesce-lint: 1 finding written to known.json\n"
    found, told = lint("--baseline", "known.json", ".", cwd=project)
    assert (found, told.returncode) == ([], 0)
    assert "0 findings (1 in the baseline)" in told.stderr
    assert lint("--baseline", "../known.json", "k.py", cwd=project / "pkg")[0] == []
    assert lint("--baseline", project / "known.json", project, cwd="/")[0] == []


def test_a_moved_kernel_stays_known_and_a_changed_offset_is_new(project):
    run("--write-baseline", "known.json", ".", cwd=project)
    (project / "pyproject.toml").write_text('[tool.coalesce-lint]\nbaseline = "known.json"\n')
    path = project / "pkg" / "k.py"
    path.write_text("# moved\n\n\n" + CLEAN + "\n\n" + STRIDED.replace("    rows =", "    rows  ="))
    assert lint(cwd=project)[0] == []
    path.write_text(STRIDED.replace("rows * n_cols + col", "rows * n_cols * 2 + col"))
    assert lint(cwd=project)[0] == [["pkg/k.py", "9"]]
    path.write_text(STRIDED.replace("column_sum", "other_name"))
    assert lint(cwd=project)[0] == [["pkg/k.py", "9"]]
    path.rename(project / "pkg" / "new.py")
    assert lint(cwd=project)[0] == [["pkg/new.py", "9"]]


def test_two_of_a_kind_are_two(project):
    path = project / "pkg" / "k.py"
    line = "    x = tl.load(x_ptr + rows * n_cols + col, mask=rows < n_rows, other=0.0)\n"
    run("--write-baseline", "known.json", ".", cwd=project)
    path.write_text(STRIDED.replace(line, line + line))
    assert lint("--baseline", "known.json", ".", cwd=project)[0] == [["pkg/k.py", "10"]]


def test_numbers_of_lines_in_offsets_do_not_count(project):
    body = (
        "    p = x_ptr + tl.arange(0, B) * n\n    for _ in range(n):\n        tl.load(p)\n        p += 3\n"
        "    j = tl.load(x_ptr)\n    tl.load(x_ptr + tl.arange(0, B) * n * 2 + j)\n"
    )
    text = (
        f"import triton\nimport triton.language as tl\n@triton.jit\ndef k(x_ptr, n, B: tl.constexpr):\n{body}"
    )
    path = project / "pkg" / "k.py"
    path.write_text(text)
    before = json.loads(run("--format", "json", ".", cwd=project).stdout)["findings"]
    assert before
    run("--write-baseline", "known.json", ".", cwd=project)
    path.write_text("\n" * 7 + text)
    assert lint("--baseline", "known.json", ".", cwd=project)[0] == []


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"schema": 9, "findings": []}', '{"schema": 1}', "\x00"]
)
def test_a_file_that_is_no_baseline(project, content):
    (project / "known.json").write_text(content)
    told = run("--baseline", "known.json", ".", cwd=project)
    assert (told.returncode, told.stdout) == (2, "")
    assert len(told.stderr.splitlines()) == 1
    assert "known.json: " in told.stderr


def test_baselines_that_are_not_there_or_cannot_be_written(project):
    assert "gone.json: No such file" in run("--baseline", "gone.json", ".", cwd=project).stderr
    told = run("--write-baseline", "no/folder/x", ".", cwd=project)
    assert told.returncode == 2
    assert "no/folder/x: cannot be written" in told.stderr


# -- --diff


def git(cwd, *args):
    identity = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *args], cwd=cwd, check=True, capture_output=True)


@pytest.fixture
def repository(project):
    git(project, "init", "-q")
    (project / "pkg" / "ü d.py").write_text(STRIDED + "\n\n" + STRIDED.replace("column_sum", "second"))
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "first")
    return project


def test_only_kernels_that_changed(repository):
    assert lint("--diff", "HEAD", ".", cwd=repository)[0] == []
    path = repository / "pkg" / "ü d.py"
    path.write_text(path.read_text().replace("def second", "# a comment\n\n@triton.jit\ndef second"))
    path.write_text(path.read_text().replace("@triton.jit\n# a comment\n\n", ""))
    text = path.read_text().replace("    tl.store(out_ptr + col, tl.sum(x, axis=0))\n", "", 1)
    path.write_text(text)
    (found,) = lint("--diff", "HEAD", ".", cwd=repository)[0]
    assert found == ["pkg/ü d.py", "9"]
    assert lint("--diff", "HEAD", "ü d.py", cwd=repository / "pkg")[0] == [["ü d.py", "9"]]
    git(repository, "commit", "-qam", "second")
    assert lint("--diff", "HEAD", ".", cwd=repository)[0] == []
    assert len(lint("--diff", "HEAD~1", ".", cwd=repository)[0]) == 1


def test_a_changed_decorator_is_a_changed_kernel(repository):
    path = repository / "pkg" / "ü d.py"
    tuned = "@triton.autotune([triton.Config({'BLOCK': 128})], key=['n_rows'])\n@triton.jit\ndef second"
    path.write_text(path.read_text().replace("@triton.jit\ndef second", tuned))
    git(repository, "commit", "-qam", "tuned")
    path.write_text(path.read_text().replace("128", "256"))
    assert lint("--diff", "HEAD", ".", cwd=repository)[0] == [["pkg/ü d.py", "22"]]


def test_new_files_are_changed_as_a_whole(repository):
    (repository / "new.py").write_text(STRIDED)
    assert lint("--diff", "HEAD", ".", cwd=repository)[0] == [["new.py", "9"]]
    git(repository, "add", "new.py")
    assert lint("--diff", "HEAD", ".", cwd=repository)[0] == [["new.py", "9"]]


@pytest.mark.parametrize("revision", ["nonsense", "--output=x", "", "HEAD:pkg"])
def test_a_revision_that_is_none(repository, revision):
    told = run("--diff", revision, ".", cwd=repository)
    assert (told.returncode, told.stdout) == (2, "")
    assert len(told.stderr.splitlines()) == 1
    assert not (repository / "x").exists()


def test_without_a_repository(project):
    told = run("--diff", "HEAD", ".", cwd=project)
    assert told.returncode == 2
    assert "not a git repository" in told.stderr
