"""The command line, each time as a process of its own."""

import json
import os
import subprocess
import sys

import pytest
from support import CLEAN, ROOT, STRIDED, run


@pytest.fixture
def project(tmp_path):
    (tmp_path / "strided.py").write_text(STRIDED)
    (tmp_path / "clean.py").write_text(CLEAN)
    (tmp_path / "plain.py").write_text("print('no kernel')\n")
    return tmp_path


FINDING = "strided.py:9:9: CL101 load of x_ptr is strided: lanes along axis 0 step by n_cols elements"


def test_a_finding_is_a_line_and_exit_code_1(project):
    told = run("strided.py", cwd=project)
    assert told.returncode == 1
    assert told.stdout.startswith(FINDING)
    assert len(told.stdout.splitlines()) == 1
    assert told.stderr == ("coalesce-lint: 1 file (1 parsed), 1 kernel, 2 accesses, 0 unknown, 1 finding\n")


def test_check_may_be_left_out(project):
    assert run("check", "strided.py", cwd=project).stdout == run("strided.py", cwd=project).stdout
    assert run("--quiet", "strided.py", cwd=project).stdout == run("strided.py", "-q", cwd=project).stdout


def test_nothing_found_is_exit_code_0_and_a_summary(project):
    told = run("clean.py", "plain.py", cwd=project)
    assert (told.returncode, told.stdout) == (0, "")
    assert told.stderr.startswith(
        "coalesce-lint: 2 files (1 parsed), 1 kernel, 2 accesses, 0 unknown, 0 findings"
    )


def test_no_kernels_are_told_from_no_findings(project):
    told = run("plain.py", cwd=project)
    assert (told.returncode, told.stdout) == (0, "")
    assert "0 kernels" in told.stderr


def test_quiet(project):
    assert run("--quiet", ".", cwd=project).stderr == ""


def test_a_missing_path_is_exit_code_2_and_the_others_are_checked(project):
    told = run("gone.py", "strided.py", cwd=project)
    assert told.returncode == 2
    assert told.stdout.startswith(FINDING)
    assert told.stderr.splitlines()[0] == "coalesce-lint: gone.py: no such file or folder"


def test_exit_zero_is_for_findings_not_for_problems(project):
    assert run("--exit-zero", "strided.py", cwd=project).returncode == 0
    assert run("--exit-zero", "gone.py", cwd=project).returncode == 2


@pytest.mark.parametrize(
    "args",
    [
        ["--select", "CL77", "."],
        ["--format", "xml", "."],
        ["--jobs", "0", "."],
        ["--config", "gone.toml", "."],
        ["--isolated", "--config", "x.toml", "."],
        ["--nonsense", "."],
        ["check"],
        ["explain"],
        ["explain", "--arg", "n", "clean.py"],
        ["explain", "--grid", "0", "clean.py"],
        ["explain", "--num-warps", "3", "clean.py"],
        ["explain", "--triton", "2.0", "clean.py"],
        ["explain", "--arch", "x", "clean.py"],
    ],
)
def test_a_bad_option_is_exit_code_2_and_one_line(project, args):
    told = run(*args, cwd=project)
    assert (told.returncode, told.stdout) == (2, "")
    assert len(told.stderr.splitlines()) == 1
    assert told.stderr.startswith("coalesce-lint: ")


@pytest.mark.parametrize(
    "args",
    [
        ["--select", "CL102"],
        ["--ignore", "CL101"],
        ["--select", "CL1", "--ignore", "CL101,CL103"],
        ["--ignore", "CL102", "--ignore", "cl101"],
    ],
)
def test_selection(project, args):
    assert run(*args, "strided.py", cwd=project).returncode == 0


def test_settings_of_the_project(project):
    (project / "pyproject.toml").write_text(
        '[tool.coalesce-lint]\nignore = ["CL101"]\nexclude = ["clean.py"]\n'
    )
    told = run(".", cwd=project)
    assert (told.returncode, told.stdout) == (0, "")
    assert "2 files" in told.stderr
    assert run("--isolated", ".", cwd=project).returncode == 1
    other = project / "other.toml"
    other.write_text("[tool.coalesce-lint]\n")
    assert run("--config", other, ".", cwd=project).returncode == 1
    sub = project / "sub"
    sub.mkdir()
    (sub / "k.py").write_text(STRIDED)
    assert run("k.py", cwd=sub).returncode == 0


def test_settings_of_single_files(project):
    (project / "sub").mkdir()
    (project / "sub" / "strided.py").write_text(STRIDED)
    table = project / "pyproject.toml"
    table.write_text('[tool.coalesce-lint.per-file-ignores]\n"/strided.py" = ["CL1"]\n')
    assert [line[:14] for line in run(".", cwd=project).stdout.splitlines()] == ["sub/strided.py"]
    assert run("strided.py", cwd=project).returncode == 0
    assert run("../strided.py", cwd=project / "sub").returncode == 0
    table.write_text('[tool.coalesce-lint.per-file-ignores]\n"sub/" = ["CL2"]\n"*.py" = ["CL10"]\n')
    assert run(".", cwd=project).stdout == ""
    table.write_text('[tool.coalesce-lint.per-file-ignores]\n"sub/" = ["CL77"]\n')
    assert "no rule has a code that begins with 'CL77'" in run(".", cwd=project).stderr


def test_the_output_format_of_the_settings(project):
    (project / "pyproject.toml").write_text('[tool.coalesce-lint]\noutput-format = "json"\n')
    assert json.loads(run(".", cwd=project).stdout)["schema"] == 1
    assert run("--format", "concise", ".", cwd=project).stdout.startswith("strided.py:9:9")


def test_config_says_what_holds_and_why(project):
    (project / "pyproject.toml").write_text(
        '[tool.coalesce-lint]\nignore = ["CL103"]\n[tool.coalesce-lint.element-types]\n"*" = "fp16"\n'
    )
    (project / "sub").mkdir()
    for told in (run("config", cwd=project / "sub"), run("config", "sub", "strided.py", cwd=project)):
        lines = dict(line.rsplit("  # ", 1) for line in told.stdout.splitlines()[:-1])
        lines = {key.strip(): origin for key, origin in lines.items()}
        assert lines['ignore = ["CL103"]'] == lines['element-types = { "*" = "fp16" }']
        assert lines['ignore = ["CL103"]'].endswith("pyproject.toml")
        assert lines['assume-contiguous = "innermost"'] == lines["# baseline is not set"] == "default"
        assert "CL101" in told.stdout.splitlines()[-1]
        assert "CL103" not in told.stdout.splitlines()[-1]
    again = project / "again.toml"
    again.write_text("[tool.coalesce-lint]\n" + told.stdout)
    assert (
        run("config", "--config", again, cwd=project).stdout.splitlines()[-1] == told.stdout.splitlines()[-1]
    )
    assert "pyproject" not in run("config", "--isolated", cwd=project).stdout
    assert json.loads(run("config", "--schema", cwd=project).stdout)["additionalProperties"] is False


def test_a_bad_setting_is_named(project):
    (project / "pyproject.toml").write_text("[tool.coalesce-lint]\nselct = []\n")
    told = run(".", cwd=project)
    assert told.returncode == 2
    assert "pyproject.toml: unknown setting 'selct'" in told.stderr


def test_force_exclude(project):
    (project / "pyproject.toml").write_text('[tool.coalesce-lint]\nexclude = ["strided.py"]\n')
    assert run("strided.py", cwd=project).returncode == 1
    assert run("--force-exclude", "strided.py", cwd=project).returncode == 0


def test_noqa(project):
    text = STRIDED.replace("other=0.0)", "other=0.0)  # noqa: CL101 - read once")
    (project / "strided.py").write_text(text)
    told = run("strided.py", cwd=project)
    assert (told.returncode, told.stdout) == (0, "")
    assert "0 findings (1 suppressed)" in told.stderr


def test_json(project):
    told = json.loads(run("--format", "json", "strided.py", "gone.py", cwd=project).stdout)
    assert [f["code"] for f in told["findings"]] == ["CL101"]
    (found,) = told["findings"]
    assert (found["path"], found["line"], found["column"]) == ("strided.py", 9, 8)
    assert found["kernel"] == "column_sum"
    assert found["access"]["pattern"] == "strided"
    assert found["access"]["lane_stride"] == "n_cols"
    assert told["errors"] == [{"path": "gone.py", "line": 0, "message": "no such file or folder"}]
    assert told["summary"]["kernels"] == 1


def test_standard_input(project):
    told = run("-", input=STRIDED, cwd=project)
    assert told.returncode == 1
    assert told.stdout.startswith("<stdin>:9:9: CL101")
    told = run("--stdin-filename", "src/k.py", "-", input=STRIDED, cwd=project)
    assert told.stdout.startswith("src/k.py:9:9: CL101")


def test_many_files_in_several_processes_give_the_same_lines(project):
    for n in range(12):
        (project / f"k{n:02}.py").write_text(STRIDED.replace("column_sum", f"kernel_{n}"))
    one = run("--jobs", "1", ".", cwd=project)
    assert len(one.stdout.splitlines()) == 13
    assert run("--jobs", "3", ".", cwd=project).stdout == one.stdout
    assert run("--no-cache", ".", cwd=project).stdout == one.stdout


def test_a_helper_in_another_file_is_reported_once_and_where_it_is(project):
    head = "import triton\nimport triton.language as tl\n"
    load = "@triton.jit\ndef column(p, i, n, c):\n    return tl.load(p + i * n * 2 + c)\n"
    (project / "helpers.py").write_text(head + load)
    for name in "abcde":
        body = f"def top_{name}(x_ptr, n, B: tl.constexpr):\n"
        body += "    column(x_ptr, tl.arange(0, B), n, tl.program_id(0))\n"
        (project / f"{name}.py").write_text(f"{head}from helpers import column\n@triton.jit\n{body}")
    told = run(".", "--jobs", "2", cwd=project)
    assert [line[:24] for line in told.stdout.splitlines()] == [
        "helpers.py:5:12: CL101 l",
        "strided.py:9:9: CL101 lo",
    ]
    (found, _) = json.loads(run("--format", "json", ".", cwd=project).stdout)["findings"]
    assert found["related"] == [{"path": "a.py", "line": 6, "column": 4, "message": "called from top_a"}]
    (project / "helpers.py").write_text(head + load.replace(" + c)", " + c)  # noqa: CL101"))
    assert "helpers.py" not in run(".", cwd=project).stdout
    assert "helpers.py:5:12: load" in run("explain", "a.py", cwd=project).stdout


def test_control_characters_of_a_path(project):
    name = "evil\x1b[31m\n.py"
    (project / name).write_text(STRIDED)
    told = run(".", cwd=project)
    assert "evil\\x1b[31m\\x0a.py:9:9: CL101" in told.stdout
    assert "\x1b" not in told.stdout + told.stderr


def test_a_path_that_is_not_utf8(project):
    path = os.fsencode(project) + b"/caf\xe9.py"
    with open(path, "w") as file:
        file.write(STRIDED)
    told = run(".", cwd=project)
    assert "caf\\xe9.py:9:9: CL101" in told.stdout
    assert run("--format", "json", ".", cwd=project).returncode == 1


def test_an_ascii_terminal(project):
    (project / "strided.py").write_text(STRIDED.replace("x_ptr", "größe_ptr"), encoding="utf-8")
    told = run("strided.py", cwd=project, env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert told.returncode == 1
    assert "gr\\xf6\\xdfe_ptr" in told.stdout


def shell(command, cwd):
    return subprocess.run(
        f"{sys.executable} -m coalesce_lint {command}", shell=True, cwd=cwd, capture_output=True, text=True
    )


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("strided.py >&-", "standard output is closed"),
        ("explain strided.py >&-", "standard output is closed"),
        ("rule CL101 >&-", "standard output is closed"),
        ("- <&-", "<stdin>: standard input is closed"),
        ("explain - <&-", "<stdin>: standard input is closed"),
        ("strided.py > /dev/full", "standard output cannot be written to: No space left on device"),
        ("--help > /dev/full", "standard output cannot be written to: No space left on device"),
    ],
)
def test_streams_that_are_closed_or_full_are_one_line(project, command, said):
    told = shell(command, project)
    assert told.returncode == 2
    assert told.stdout == ""
    assert told.stderr.splitlines()[0] == f"coalesce-lint: {said}"
    assert "Traceback" not in told.stderr
    assert len(told.stderr.splitlines()) <= 2


def test_nothing_needs_standard_error(project):
    assert shell("strided.py 2>&-", project).returncode == 1
    assert shell("gone.py 2>&-", project).returncode == 2
    assert shell("strided.py >&- 2>&- <&-", project).returncode == 2


def test_standard_input_under_its_path(project):
    assert shell("/dev/stdin < strided.py", project).stdout.startswith("/dev/stdin:9:9: CL101")


def test_without_arguments_the_help_is_shown(project):
    told = run(cwd=project)
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr == run("--help").stdout


def test_a_link_that_leads_nowhere_is_told_and_changes_no_exit_code(project):
    (project / "strided.py").unlink()
    (project / "gone.py").symlink_to(project / "nowhere.py")
    told = run(".", cwd=project)
    assert (told.returncode, told.stdout) == (0, "")
    assert told.stderr.splitlines()[0] == "coalesce-lint: gone.py: not read: a link that leads nowhere"
    assert run("gone.py", cwd=project).returncode == 2


@pytest.mark.parametrize("reader", ["head -1", "true"])
@pytest.mark.parametrize(
    "arguments",
    ["--jobs 2 .", "--format json .", "--statistics .", "explain .", "rule CL", "rule --all", "check --help"],
)
def test_a_reader_that_leaves(project, arguments, reader):
    for n in range(40):
        (project / f"k{n:02}.py").write_text(CLEAN)
    (project / "strided.py").write_text(STRIDED * 8)
    told = subprocess.run(
        f"{sys.executable} -m coalesce_lint {arguments} | {reader}",
        shell=True,
        cwd=project,
        capture_output=True,
        text=True,
    )
    assert len(told.stdout.splitlines()) == (reader == "head -1")
    for sign in ("Traceback", "Exception", "Broken pipe", "internal error"):
        assert sign not in told.stderr


def test_explain(project):
    told = run("explain", "strided.py", cwd=project)
    assert (told.returncode, told.stderr) == (0, "")
    assert "strided.py:6: column_sum: 2 accesses (1 strided, 1 uniform)" in told.stdout.replace(":5:", ":6:")
    assert "lanes    " in told.stdout
    assert "|0.......|1.......|" in told.stdout


def test_a_path_may_contain_two_colons(project):
    (project / "a::b.py").write_text(STRIDED)
    for target in ("a::b.py", "a::b.py::column_sum"):
        assert "a::b.py:6: column_sum" in run("explain", target, cwd=project).stdout


def test_explain_heeds_settings(project):
    (project / "pyproject.toml").write_text('[tool.coalesce-lint]\nexclude = ["strided.py"]\n')
    assert "column_sum" not in run("explain", ".", cwd=project).stdout
    assert "column_sum" in run("explain", "--isolated", ".", cwd=project).stdout
    (project / "pyproject.toml").write_text("[tool.coalesce-lint]\nexlude = []\n")
    assert run("explain", ".", cwd=project).returncode == 2


def test_explain_picks_a_kernel(project):
    (project / "two.py").write_text(STRIDED + CLEAN)
    told = json.loads(run("explain", "--format", "json", "two.py::row_sum", cwd=project).stdout)
    assert [k["name"] for k in told["kernels"]] == ["row_sum"]
    assert told["errors"] == []
    told = json.loads(run("explain", "--format", "json", "two.py", cwd=project).stdout)
    assert [k["name"] for k in told["kernels"]] == ["column_sum", "row_sum"]


def test_explain_of_a_kernel_that_is_not_there(project):
    told = run("explain", "strided.py::nothing", "clean.py", cwd=project)
    assert told.returncode == 2
    assert told.stderr == "coalesce-lint: strided.py: no kernel is named 'nothing'\n"
    assert "row_sum" in told.stdout


def test_explain_tells_errors_in_json(project):
    (project / "bad.py").write_text("import triton\n@triton.jit\ndef f(:\n")
    told = run("explain", "--format", "json", "bad.py", "gone.py", "clean.py", cwd=project)
    assert told.returncode == 2
    document = json.loads(told.stdout)
    assert [(e["path"], e["line"]) for e in document["errors"]] == [("bad.py", 3), ("gone.py", 0)]
    assert [k["name"] for k in document["kernels"]] == ["row_sum"]


def test_explain_with_pins(project):
    told = run("explain", "--format", "json", "--arg", "n_cols=1", "strided.py", cwd=project)
    (load, _) = json.loads(told.stdout)["kernels"][0]["accesses"]
    assert load["pattern"] == "contiguous"
    assert load["condition"] is None


def test_explain_of_a_name_that_no_kernel_has(project):
    told = run("explain", "--arg", "n_colls=4", "strided.py", cwd=project)
    assert told.returncode == 2
    assert told.stderr == (
        "coalesce-lint: --arg n_colls: no kernel that is shown has a parameter of that name; "
        "did you mean n_cols?\n"
    )


def test_explain_of_a_file_without_kernels(project):
    told = run("explain", "plain.py", cwd=project)
    assert (told.returncode, told.stdout, told.stderr) == (0, "", "coalesce-lint: no kernels found\n")


def test_version_and_help():
    assert run("--version").stdout.startswith("coalesce-lint 0.")
    told = run("--help")
    assert told.returncode == 0
    assert all(verb in told.stdout for verb in ("check", "explain", "rule"))
    assert all(run(verb, "--help").returncode == 0 for verb in ("check", "explain", "rule"))
    assert run("explain", "-h").returncode == 0


HEAVY = ("libcst", "sympy", "torch", "triton", "numpy")


def imported(*args, cwd=None):
    """The heavy modules that a command line imports."""
    code = (
        "import sys; from coalesce_lint.cli import main; code = main(sys.argv[1:]);"
        f"print('imported', [m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, *args], cwd=cwd, capture_output=True, text=True, timeout=60
    )
    return told.stderr.split("imported ")[-1].strip()


@pytest.mark.parametrize(
    "args",
    [
        ["--version"],
        ["--help"],
        ["check", "--help"],
        ["rule", "CL101"],
        ["rule", "--all"],
        ["config"],
        ["--select", "X", "."],
    ],
)
def test_cheap_commands_import_nothing_heavy(args):
    assert imported(*args) == "[]"


def test_files_without_kernels_import_nothing_heavy(project):
    (project / "strided.py").unlink()
    (project / "clean.py").unlink()
    assert imported(".", cwd=project) == "[]"


def test_lint_never_imports_torch_or_triton(project):
    assert "torch" not in imported(".", cwd=project)
    assert "triton" not in imported("explain", ".", cwd=project)


def test_the_code_that_is_read_is_never_run(project):
    (project / "strided.py").write_text("open('ran', 'w')\nraise SystemExit(9)\n" + STRIDED)
    assert run(".", cwd=project).returncode == 1
    assert not (project / "ran").exists()


@pytest.mark.parametrize(
    "name", ["json", "zlib", "ast", "click", "libcst", "sympy", "multiprocessing", "triton"]
)
def test_modules_in_the_current_folder_are_never_imported(project, name):
    (project / f"{name}.py").write_text("open('ran', 'w')\nraise SystemExit(9)\n" + STRIDED)
    told = run("--jobs", "2", ".", cwd=project)
    assert told.returncode == 1, told.stderr
    assert f"{name}.py:11:9: CL101" in told.stdout
    assert not (project / "ran").exists()


def test_a_current_folder_that_is_gone(project):
    (project / "gone").mkdir()
    told = shell(f"{project}/strided.py", project / "gone")
    assert told.returncode == 1
    command = f"rm -r ../gone; {sys.executable} -m coalesce_lint {project}/strided.py"
    told = subprocess.run(command, shell=True, cwd=project / "gone", capture_output=True, text=True)
    assert told.returncode == 2
    assert told.stderr == "coalesce-lint: the current folder: No such file or directory\n"


def test_a_misspelt_verb(project):
    assert "did you mean 'explain'?" in run("exlpain", "strided.py", cwd=project).stderr
    assert "did you mean '--help'?" in run("help", cwd=project).stderr
    (project / "rules").write_text(STRIDED)
    assert run("rules", cwd=project).returncode == 1


def test_an_empty_path_is_seen(project):
    assert run("", cwd=project).stderr.splitlines()[0] == "coalesce-lint: '': no such file or folder"
    assert run("explain", "", cwd=project).stderr == "coalesce-lint: '': no such file or folder\n"


def test_an_internal_error_is_one_line(project):
    code = (
        "import sys; from coalesce_lint import cli, files;"
        "files.walk = lambda *a: 1 / 0; sys.exit(cli.main(['.']))"
    )
    told = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True, text=True)
    assert told.returncode == 2
    assert told.stderr == (
        "coalesce-lint: internal error: ZeroDivisionError: division by zero "
        "(COALESCE_LINT_DEBUG=1 shows where)\n"
    )


def test_no_file_of_the_repository_names_the_place_it_was_made():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git repository")
    for name in listed.stdout.splitlines():
        data = (ROOT / name).read_bytes() if (ROOT / name).is_file() else b""
        assert b"/" + b"work/" not in data, name
        assert b".." + b"/shared" not in data, name
