"""Results that are kept between runs: the same output as without, and never one that is out of date."""

import json
import os
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from support import CLEAN, ROOT, STRIDED, run

from coalesce_lint import check, consulted, files, records
from coalesce_lint.check_file import Work
from coalesce_lint.findings import all_rules
from coalesce_lint.result_cache import FOLDER, ResultCache
from coalesce_lint.settings import FORMATS

HELPER = """\
import triton
import triton.language as tl


@triton.jit
def offset(rows, n):
    return rows
"""
CALLER = """\
import triton
import triton.language as tl
from helper import offset


@triton.jit
def copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    rows = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset(rows, n))
    tl.store(y_ptr + rows, x)
"""
KERNEL = """\
import triton
import triton.language as tl


@triton.jit
def rows(x_ptr, y_ptr, stride, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(y_ptr + lanes, tl.load(x_ptr + lanes * stride))
"""
HOST = """\
import torch
from kernel import rows


def run():
    x = torch.empty(64, 4096, device="cuda"){view}
    y = torch.empty(4096, device="cuda")
    rows[(1,)](x, y, x.stride({dim}), BLOCK=64)
"""


class Folder:
    """A folder that is linted through the cache; ``analyzed`` counts what was computed anew."""

    def __init__(self, path, monkeypatch):
        self.path = path
        self.analyzed = []
        self.todo = Work(tuple(r.code for r in all_rules() if r.default), roots=(path,))
        monkeypatch.chdir(path)
        original = check.check_source

        def counted(source, todo):
            self.analyzed.append(source[0])
            return original(source, todo)

        monkeypatch.setattr(check, "check_source", counted)

    def write(self, **texts):
        for name, text in texts.items():
            (self.path / f"{name}.py").write_text(text)

    def lint(self, todo=None):
        self.analyzed.clear()
        todo = todo or self.todo
        cache = lambda: ResultCache(self.path / FOLDER, todo)  # noqa: E731
        outcome = check.check_paths(files.walk(["."]), todo, 1, cache=cache)
        fresh = check.check_paths(files.walk(["."]), todo, 1)
        del self.analyzed[len(self.analyzed) - fresh.counts.parsed :]
        assert [records.of_finding(f) for f in outcome.findings] == [
            records.of_finding(f) for f in fresh.findings
        ]
        assert outcome.counts == fresh.counts
        return [f.code for f in outcome.findings]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    return Folder(tmp_path, monkeypatch)


def test_nothing_is_analyzed_twice(folder):
    folder.write(a=STRIDED, b=CLEAN)
    assert folder.lint() == ["CL101"]
    assert folder.analyzed == ["a.py", "b.py"]
    assert folder.lint() == ["CL101"]
    assert folder.analyzed == []


def test_a_changed_file_is_analyzed_anew_and_only_it(folder):
    folder.write(a=STRIDED, b=CLEAN)
    folder.lint()
    folder.write(a=CLEAN)
    assert folder.lint() == []
    assert folder.analyzed == ["a.py"]


def test_a_result_comes_back_with_an_old_content(folder):
    folder.write(a=STRIDED)
    folder.lint()
    folder.write(a=CLEAN)
    folder.lint()
    folder.write(a=STRIDED)
    assert folder.lint() == ["CL101"]
    assert folder.analyzed == []


def test_a_changed_helper_in_another_file_counts(folder):
    folder.write(helper=HELPER, caller=CALLER)
    assert folder.lint() == []
    folder.write(helper=HELPER.replace("return rows", "return rows * n * 2"))
    assert folder.lint() == ["CL101"]
    assert "caller.py" in folder.analyzed


def test_a_helper_outside_of_the_linted_files_counts(tmp_path, monkeypatch):
    (tmp_path / "inner").mkdir()
    folder = Folder(tmp_path / "inner", monkeypatch)
    folder.todo = replace(folder.todo, roots=(tmp_path,))
    (tmp_path / "helper.py").write_text(HELPER)
    folder.write(caller=CALLER)
    assert folder.lint() == []
    (tmp_path / "helper.py").write_text(HELPER.replace("return rows", "return rows * n * 2"))
    assert folder.lint() == ["CL101"]


def test_a_helper_that_appears_and_goes_away_counts(folder):
    folder.write(caller=CALLER)
    folder.lint()
    folder.write(helper=HELPER.replace("return rows", "return rows * n * 2"))
    assert folder.lint() == ["CL101"]
    (folder.path / "helper.py").unlink()
    assert folder.lint() == []
    # a package is found before a module of the same name further out
    (folder.path / "helper").mkdir()
    (folder.path / "helper" / "__init__.py").write_text(HELPER.replace("return rows", "return rows * n * 2"))
    assert folder.lint() == ["CL101"]


def test_a_comment_in_the_helper_counts(folder):
    helper = HELPER.replace(
        "def offset(rows, n):\n    return rows",
        "def offset(rows, n):\n    return tl.load(rows + tl.arange(0, 64) * n * 2)",
    )
    caller = CALLER.replace("offset(rows, n)", "offset(x_ptr, n)")
    folder.write(helper=helper, caller=caller)
    assert set(folder.lint()) == {"CL101"}
    folder.write(helper=helper.replace("* 2)", "* 2)  # noqa: CL101"))
    assert folder.lint() == []


def test_host_code_in_another_file_counts(folder):
    folder.write(kernel=KERNEL, host=HOST.format(view="", dim=1))
    assert "CL201" not in folder.lint()
    folder.write(host=HOST.format(view="", dim=0))
    assert "CL201" in folder.lint()
    assert folder.analyzed == ["kernel.py"]


def test_host_code_of_others_costs_nothing(folder):
    folder.write(kernel=KERNEL, host=HOST.format(view="", dim=1), other=STRIDED)
    folder.lint()
    folder.write(host=HOST.format(view="", dim=0))
    folder.lint()
    assert folder.analyzed == ["kernel.py"]


def test_code_that_host_code_imports_counts(folder):
    host = HOST.format(view="", dim=0).replace("x.stride(0)", "number()")
    folder.write(kernel=KERNEL, host=f"from numbers_ import number\n{host}")
    folder.lint()
    folder.write(numbers_="def number():\n    return 4096\n")
    folder.lint()
    folder.write(numbers_="def number():\n    return 1\n")
    folder.lint()  # compared with a run that has no cache


@pytest.mark.parametrize(
    "change",
    [
        {"codes": ("CL102",)},
        {"asked": frozenset({"CL101"})},
        {"strings": True},
        {"frames": True},
        {"noqa": False},
    ],
)
def test_another_task_has_results_of_its_own(folder, change):
    folder.write(a=STRIDED)
    folder.lint()
    folder.lint(replace(folder.todo, **change))
    assert folder.analyzed == ["a.py"]


def test_a_kernel_that_was_not_read_to_its_end_is_read_again(folder, monkeypatch):
    from coalesce_lint.kernels import interpret

    monkeypatch.setattr(interpret, "TIME_LIMIT", -1.0)
    folder.write(a=STRIDED)
    assert "CL901" in folder.lint()
    monkeypatch.undo()
    monkeypatch.chdir(folder.path)
    cache = lambda: ResultCache(folder.path / FOLDER, folder.todo)  # noqa: E731
    outcome = check.check_paths(files.walk(["."]), folder.todo, 1, cache=cache)
    assert [f.code for f in outcome.findings] == ["CL101"]


def test_the_sources_of_the_tool_count(folder, monkeypatch):
    from coalesce_lint import result_cache

    folder.write(a=STRIDED)
    folder.lint()
    monkeypatch.setattr(result_cache, "_tool", lambda: ["another"])
    folder.lint()
    assert folder.analyzed == ["a.py"]


def test_what_the_tool_is_made_of_is_noticed():
    from coalesce_lint.result_cache import _library, _tool

    told = _tool()
    assert len(told) >= 4
    assert any("sympy-" in path for path in _library())


def database(folder):
    return folder.path / FOLDER / "results.sqlite"


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_file_that_is_no_database_is_replaced(folder, content):
    folder.write(a=STRIDED)
    folder.lint()
    database(folder).write_bytes(content)
    assert folder.lint() == ["CL101"]
    folder.lint()
    folder.lint()
    assert folder.analyzed == []


def test_a_cut_database_is_no_error(folder):
    folder.write(a=STRIDED, b=CLEAN)
    folder.lint()
    whole = database(folder).read_bytes()
    for size in range(0, len(whole), 1777):
        database(folder).write_bytes(whole[:size])
        assert folder.lint() == ["CL101"]


def test_a_changed_value_is_not_believed(folder):
    folder.write(a=STRIDED)
    folder.lint()
    with sqlite3.connect(database(folder)) as opened:
        opened.execute("UPDATE result SET value = replace(value, 'CL101', 'CL999')")
    opened.close()
    assert folder.lint() == ["CL101"]


@pytest.mark.parametrize("value", ["", "x", "\n[]", "\nnull", "\n[1, 2]", '\n[{"findings": 3}, {}]'])
def test_a_value_of_another_kind_is_not_believed(folder, value):
    from coalesce_lint.result_cache import _checksum

    folder.write(a=STRIDED)
    folder.lint()
    with sqlite3.connect(database(folder)) as opened:
        for (key,) in opened.execute("SELECT key FROM result").fetchall():
            body = value.removeprefix("\n")
            told = f"{_checksum(key, body)}\n{body}" if value.startswith("\n") else value
            opened.execute("UPDATE result SET value = ? WHERE key = ?", (told, key))
    opened.close()
    assert folder.lint() == ["CL101"]


def test_old_results_are_deleted(folder):
    folder.write(a=STRIDED)
    folder.lint()
    with sqlite3.connect(database(folder)) as opened:
        opened.execute("UPDATE result SET day = day - 40")
        before = opened.execute("SELECT count(*) FROM result").fetchone()[0]
    opened.close()
    folder.write(a=CLEAN)
    folder.lint()
    with sqlite3.connect(database(folder)) as opened:
        assert opened.execute("SELECT count(*) FROM result WHERE day < 0").fetchone()[0] == 0
        assert opened.execute("SELECT count(*) FROM result").fetchone()[0] <= before
    opened.close()


def test_a_locked_database_makes_no_run_wait_long(folder, monkeypatch):
    from coalesce_lint import result_cache

    monkeypatch.setattr(result_cache, "_PATIENCE", 0.1)
    folder.write(a=STRIDED)
    folder.lint()
    other = sqlite3.connect(database(folder), isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    assert folder.lint() == ["CL101"]
    other.execute("ROLLBACK")
    other.close()
    folder.lint()
    assert folder.analyzed == []


def test_findings_survive_json():
    every = Work(tuple(r.code for r in all_rules()), frozenset(r.code for r in all_rules()), frames=True)
    outcome = check.check_paths(files.walk([str(ROOT / "fixtures" / "seeds")]), every, 1)
    assert len(outcome.findings) > 30
    for finding in outcome.findings:
        record = json.loads(json.dumps(records.of_finding(finding)))
        again = records.to_finding(record)
        assert records.of_finding(again) == records.of_finding(finding)
        assert again.as_dict() == finding.as_dict()
        assert again.sort_key() == finding.sort_key()


@pytest.mark.parametrize("form", FORMATS)
def test_all_formats_print_the_same_from_the_cache(tmp_path, form):
    (tmp_path / "a.py").write_text(STRIDED)
    (tmp_path / "broken.py").write_text("import triton\n@triton.jit\ndef f(:\n")
    first = run("--format", form, ".", cwd=tmp_path)
    again = run("--format", form, ".", cwd=tmp_path)
    without = run("--format", form, "--no-cache", ".", cwd=tmp_path)
    assert first.stdout and (first.stdout, first.stderr) == (again.stdout, again.stderr)
    assert first.stdout == without.stdout
    assert first.returncode == again.returncode == 1


def test_a_warm_run_does_not_import_sympy(tmp_path):
    (tmp_path / "a.py").write_text(STRIDED)
    program = (
        "import sys; from coalesce_lint.cli import main; code = main(['a.py']); "
        "print(code, 'sympy' in sys.modules)"
    )

    def told():
        done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
        return done.stdout.splitlines()[-1]

    assert told() == "1 True"
    assert told() == "1 False"


def test_no_cache_leaves_no_folder(tmp_path):
    (tmp_path / "a.py").write_text(STRIDED)
    assert run("--no-cache", "a.py", cwd=tmp_path).returncode == 1
    assert not (tmp_path / FOLDER).exists()


def test_without_kernels_there_is_no_folder(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n")
    assert run("a.py", cwd=tmp_path).returncode == 0
    assert not (tmp_path / FOLDER).exists()


def test_the_folder_is_beside_the_settings_and_ignored_by_git(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.coalesce-lint]\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text(STRIDED)
    run("a.py", cwd=tmp_path / "src")
    assert (tmp_path / FOLDER / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    told = subprocess.run(["git", "-C", tmp_path, "status", "--short"], capture_output=True, text=True)
    assert FOLDER not in told.stdout


@pytest.mark.parametrize("obstacle", ["file", "folder", "read-only", "link to nowhere"])
def test_a_folder_that_cannot_be_written_is_no_error(tmp_path, obstacle):
    (tmp_path / "a.py").write_text(STRIDED)
    where = tmp_path / FOLDER
    if obstacle == "file":
        where.write_text("")
    elif obstacle == "folder":
        (where / "results.sqlite").mkdir(parents=True)
    elif obstacle == "read-only":
        where.mkdir()
        where.chmod(stat.S_IRUSR | stat.S_IXUSR)
    else:
        where.symlink_to(tmp_path / "nowhere")
    for _ in range(2):
        told = run("a.py", cwd=tmp_path)
        assert told.returncode == 1
        assert told.stderr.count("\n") == 1
    where.chmod(0o700) if obstacle == "read-only" else None


def test_runs_at_the_same_time(tmp_path):
    for number in range(6):
        (tmp_path / f"k{number}.py").write_text(STRIDED if number % 2 else CLEAN)
    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(lambda _: run(".", "--jobs", "1", cwd=tmp_path), range(6)))
    assert {t.returncode for t in told} == {1}
    assert len({t.stdout for t in told}) == 1
    assert {t.stderr for t in told} == {told[0].stderr}
    assert run(".", cwd=tmp_path).stdout == told[0].stdout


def test_standard_input_and_changed_settings(tmp_path):
    def lint(*args):
        return run("-", *args, cwd=tmp_path, input=STRIDED).stdout

    assert lint() == lint() != ""
    assert lint("--ignore", "CL101") == ""
    (tmp_path / "pyproject.toml").write_text('[tool.coalesce-lint]\nignore = ["CL101"]\n')
    assert lint() == ""
    (tmp_path / "pyproject.toml").write_text("[tool.coalesce-lint]\nmin-waste = 30.0\n")
    assert lint() == lint() == ""


def test_comments_that_silence_nothing_are_told_each_time(tmp_path):
    text = STRIDED.replace("mask=rows < n_rows, other=0.0)", "mask=rows < n_rows)  # noqa: CL101")
    (tmp_path / "a.py").write_text(text + "\nx = 1  # noqa: CL102\n")
    told = [run("--extend-select", "CL902", "a.py", cwd=tmp_path).stdout for _ in range(2)]
    assert told[0] == told[1] and told[0].count("CL902") == 1


def test_clean(tmp_path):
    (tmp_path / "a.py").write_text(STRIDED)
    assert "there is no" in run("clean", cwd=tmp_path).stderr
    run("a.py", cwd=tmp_path)
    assert (tmp_path / FOLDER).is_dir()
    told = run("clean", cwd=tmp_path)
    assert told.returncode == 0 and "deleted" in told.stderr
    assert not (tmp_path / FOLDER).exists()
    kept = tmp_path / "kept"
    kept.mkdir()
    (tmp_path / FOLDER).symlink_to(kept)
    assert run("clean", cwd=tmp_path).returncode == 0
    assert kept.is_dir()


def test_answers_are_those_of_the_file_system(tmp_path):
    there = tmp_path / "there.py"
    there.write_bytes(b"x = 1\r\ny = 2\r")
    missing = str(tmp_path / "missing.py")
    with consulted.recording() as answers:
        assert consulted.is_file(str(there)) and consulted.exists(str(tmp_path))
        assert not consulted.is_file(missing)
        assert consulted.read_text(str(there)) == "x = 1\ny = 2\n"
        with pytest.raises(OSError):
            consulted.read_text(missing)
    assert set(answers) == {str(there), str(tmp_path), missing}
    assert all(consulted.answer_now(path, answer) == answer for path, answer in answers.items())
    there.write_bytes(b"x = 2\n")
    os.mkdir(missing)
    tmp_path.joinpath("other").mkdir()
    assert consulted.answer_now(str(there), answers[str(there)]) != answers[str(there)]
    with consulted.recording() as later:
        pass
    consulted.is_file(missing)
    assert later == {}
