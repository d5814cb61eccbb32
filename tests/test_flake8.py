"""The plugin, run by the real flake8: the same lines as ``coalesce-lint check``."""

import os
import subprocess
import sys

import pytest
from support import CLEAN, ROOT, STRIDED, run

#: A folder whose findings depend on other files: a helper, a launch, and letters that are not ASCII.
PROJECT = {
    "a/strided.py": STRIDED,
    "a/clean.py": CLEAN,
    "a/plain.py": "import os\n\nprint(os)\n",
    "b/helper.py": "import triton\nimport triton.language as tl\n\n\n"
    "@triton.jit\ndef read(x_ptr, rows, n):\n    return tl.load(x_ptr + rows * n * 2)\n",
    "b/caller.py": "import triton\nimport triton.language as tl\nfrom helper import read\n\n\n"
    "@triton.jit\ndef copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):\n    rows = tl.arange(0, BLOCK)\n"
    "    tl.store(y_ptr + rows, read(x_ptr, rows, n))\n",
    "b/kernel.py": "import triton\nimport triton.language as tl\n\n\n"
    "@triton.jit\ndef rows(x_ptr, y_ptr, stride, BLOCK: tl.constexpr):\n    lanes = tl.arange(0, BLOCK)\n"
    "    tl.store(y_ptr + lanes, tl.load(x_ptr + lanes * stride))\n",
    "host.py": "import torch\nfrom b.kernel import rows\n\n\ndef run():\n"
    '    x = torch.empty(64, 4096, device="cuda")\n    y = torch.empty(4096, device="cuda")\n'
    "    rows[(1,)](x, y, x.stride(0), BLOCK=64)\n",
    "letters.py": STRIDED.replace("    x = tl", '    é = "ßü"; x = tl'),
}


def flake8(*args, cwd, **kw):
    """flake8 with nothing on but the plugin."""
    command = [sys.executable, "-m", "flake8", "--enable-extensions", "CL", "--select", "CL,E9", *args]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, **kw)


@pytest.fixture
def project(tmp_path):
    for name, text in PROJECT.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("paths", [["a"], ["a", "b", "host.py", "letters.py"]])
def test_the_same_lines_as_check(project, jobs, paths):
    ours = run("check", *paths, cwd=project)
    theirs = flake8("--jobs", jobs, *paths, cwd=project)
    assert theirs.stdout == ours.stdout != ""
    assert theirs.stderr == ""
    assert theirs.returncode == ours.returncode == 1


def test_what_other_files_decide_is_among_them(project):
    told = flake8("b", "host.py", cwd=project).stdout
    assert "b/helper.py:7:12: CL101" in told
    assert "CL201" in told
    assert "CL201" not in flake8("b", cwd=project).stdout


def test_a_finding_in_a_file_that_was_not_given_is_told_at_the_call(project):
    (ours,) = run("b/caller.py", cwd=project).stdout.splitlines()
    place, text = ours.split(" CL101 ")
    assert place == "b/helper.py:7:12:"
    for jobs in "12":
        told = flake8("--jobs", jobs, "b/caller.py", "a/clean.py", cwd=project).stdout
        assert told == f"b/caller.py:9:28: CL101 b/helper.py:7:12: {text}\n"
    stdin = flake8("-", "--stdin-display-name", "b/caller.py", cwd=project, input=PROJECT["b/caller.py"])
    assert stdin.stdout == told


def test_columns_count_characters_from_1(project):
    line = (project / "letters.py").read_text().split("\n")[8]
    told = flake8("letters.py", cwd=project).stdout
    assert told.startswith(f"letters.py:9:{line.index('tl.load') + 1}: CL101 ")


def test_the_current_folder_is_meant_without_paths(project):
    def places(text):
        return [os.path.normpath(line.split(":")[0]) + line[line.index(":") :] for line in text.splitlines()]

    assert places(flake8(cwd=project).stdout) == sorted(places(run(".", cwd=project).stdout))


def test_real_kernels(tmp_path):
    paths = [str(ROOT / "fixtures" / "seeds"), str(ROOT / "fixtures" / "CL105")]
    assert flake8(*paths, cwd=tmp_path).stdout == run(*paths, cwd=tmp_path).stdout != ""


def test_off_by_default(project):
    command = [sys.executable, "-m", "flake8", "a/strided.py"]
    told = subprocess.run(command, cwd=project, capture_output=True, text=True)
    assert "CL" not in told.stdout


def test_on_by_its_settings_file_and_beside_other_rules(project):
    (project / ".flake8").write_text("[flake8]\nenable-extensions = CL\n")
    (project / "a" / "plain.py").write_text("import os\n")
    told = subprocess.run([sys.executable, "-m", "flake8", "a"], cwd=project, capture_output=True, text=True)
    assert "a/plain.py:1:1: F401" in told.stdout
    assert "a/strided.py:9:9: CL101" in told.stdout


def test_standard_input(project):
    def both(name, text=STRIDED):
        theirs = flake8("-", "--stdin-display-name", name, cwd=project, input=text)
        ours = run("-", "--stdin-filename", name, cwd=project, input=text)
        assert theirs.stdout == ours.stdout, theirs.stderr
        return theirs.stdout

    assert both("a/strided.py").startswith("a/strided.py:9:9: CL101")
    assert both("b/new.py").startswith("b/new.py:9:9: CL101")
    assert both("a/strided.py", CLEAN) == ""
    assert both("u.py", "# é\n" + STRIDED).startswith("u.py:10:9: CL101")
    (project / "pyproject.toml").write_text('[tool.coalesce-lint.per-file-ignores]\n"a/" = ["CL1"]\n')
    assert both("a/strided.py") == ""
    assert both("b/new.py") != ""


def test_standard_input_in_another_encoding(tmp_path):
    text = "# -*- coding: latin-1 -*-\n" + STRIDED.replace("    x = tl", '    é = "ßü"; x = tl')
    data = text.encode("latin-1")
    command = [sys.executable, "-m", "flake8", "--enable-extensions", "CL", "--select", "CL", "-"]
    told = subprocess.run(command, cwd=tmp_path, input=data, capture_output=True)
    assert told.stdout.startswith(b"stdin:10:"), told
    (tmp_path / "k.py").write_bytes(data)
    place = flake8("k.py", cwd=tmp_path).stdout.split(" ")[0]
    assert place == run("k.py", cwd=tmp_path).stdout.split(" ")[0]
    assert told.stdout.decode().split(" ")[0] == place.replace("k.py", "stdin")


@pytest.mark.parametrize("comment", ["# noqa", "# noqa: CL101", "# noqa: E501,CL1"])
def test_noqa(project, comment):
    text = STRIDED.replace("other=0.0)", f"other=0.0)  {comment}")
    (project / "a" / "strided.py").write_text(text)
    assert flake8("a", cwd=project).stdout == run("a", cwd=project).stdout == ""
    assert "a/strided.py:9:9: CL101" in flake8("--disable-noqa", "a", cwd=project).stdout


def test_noqa_on_the_offset_and_over_backslashes(project):
    text = STRIDED.replace(
        "    x = tl.load(x_ptr + rows * n_cols + col,",
        "    offs = rows * n_cols + col  # noqa: CL101\n    x = tl.load(x_ptr + offs,",
    )
    joined = STRIDED.replace("other=0.0)", "other=0.0) + \\\n        col  # noqa: CL101")
    for changed in (text, joined):
        (project / "a" / "strided.py").write_text(changed)
        assert flake8("a", cwd=project).stdout == run("a", cwd=project).stdout == ""


def test_comments_for_kernels_count(project):
    text = STRIDED.replace("BLOCK: tl.constexpr):", "BLOCK: tl.constexpr):  # coalesce-lint: off")
    (project / "a" / "strided.py").write_text(text)
    assert flake8("a", cwd=project).stdout == ""
    assert flake8("--disable-noqa", "a", cwd=project).stdout == ""


def test_a_syntax_error_is_flake8s_own(project):
    (project / "a" / "broken.py").write_text("import triton\n\n\n@triton.jit\ndef f(:\n    pass\n")
    told = flake8("a", cwd=project)
    assert [line.split()[1] for line in told.stdout.splitlines()] == ["E999", "CL101"]
    assert told.stderr == ""


def test_files_without_kernels(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "empty.py").write_text("")
    told = flake8(".", cwd=tmp_path)
    assert (told.stdout, told.stderr, told.returncode) == ("", "", 0)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.py", "empty.py"]  # no cache folder


def test_settings_of_the_project(project):
    (project / "pyproject.toml").write_text(
        '[tool.coalesce-lint]\nextend-select = ["CL100"]\nexclude = ["b/"]\n'
        '[tool.coalesce-lint.per-file-ignores]\n"a/" = ["CL101"]\n'
    )
    ours = run("a", "b", "host.py", "letters.py", cwd=project)
    theirs = flake8("a", "b", "host.py", "letters.py", cwd=project)
    assert theirs.stdout == ours.stdout
    assert {line.split(":")[0] for line in ours.stdout.splitlines()} == {"letters.py"}
    # from another folder: patterns are relative to the settings
    assert flake8("../letters.py", cwd=project / "a").stdout.startswith("../letters.py:9:")
    assert flake8("strided.py", cwd=project / "a").stdout == ""


def test_a_baseline_of_the_settings(project):
    run("--write-baseline", "known.json", "a", "b", cwd=project)
    (project / "pyproject.toml").write_text('[tool.coalesce-lint]\nbaseline = "known.json"\n')
    assert flake8("a", "b", cwd=project).stdout == run("a", "b", cwd=project).stdout == ""
    (project / "known.json").write_text("[]")
    assert "not a baseline" in flake8("a", cwd=project).stdout


def test_bad_settings_are_told_in_one_line(project):
    (project / "pyproject.toml").write_text("[tool.coalesce-lint]\nselct = []\n")
    told = flake8("a", cwd=project)
    assert told.returncode == 1
    assert "coalesce-lint: " in told.stdout and "unknown setting 'selct'" in told.stdout
    assert "Traceback" not in told.stdout + told.stderr


def test_what_cannot_be_read_is_flake8s_own(project):
    told = flake8("a/none.py", "a", cwd=project)
    assert "a/none.py:0:1: E902" in told.stdout
    assert "a/strided.py:9:9: CL101" in told.stdout


def test_importing_the_plugin_is_cheap():
    program = (
        "import sys; before = set(sys.modules); import coalesce_lint.flake8_plugin; "
        "print(sorted(m for m in set(sys.modules) - before))"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    # nothing but itself, the package and what the standard library has imported for typing
    assert "'coalesce_lint.flake8_plugin'" in told.stdout
    for heavy in ("libcst", "sympy", "click", "pathspec", "coalesce_lint.check", "coalesce_lint.findings"):
        assert f"'{heavy}'" not in told.stdout
