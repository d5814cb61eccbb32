import os
import signal
import time

import pytest

from coalesce_lint import analysis, check, files, pool
from coalesce_lint.access import FileReport
from coalesce_lint.findings import all_rules


def square(task):
    if task == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if task == "leave":
        os._exit(3)
    if task == "hang":
        time.sleep(60)
    return task * task


def test_answers_come_in_the_order_of_the_tasks():
    assert pool.run(square, list(range(50)), 3) == [n * n for n in range(50)]


def test_no_tasks():
    assert pool.run(square, [], 4) == []


def test_a_dead_worker_costs_its_task_only():
    told = pool.run(square, [1, "die", 2, "leave", 3], 2)
    assert told[0::2] == [1, 4, 9]
    assert "SIGKILL" in told[1]
    assert "code 3" in told[3]


def test_a_task_that_takes_too_long_is_ended():
    told = pool.run(square, ["hang", 2, 3], 2, limit=0.5)
    assert told[1:] == [4, 9]
    assert told[0] == "not checked: it took longer than 0.5 seconds"


class FakeEngine:
    """Dies, raises or reports nothing, by what the text says."""

    def analyze_text(self, text, path, pins=None, **how):
        if "die" in text:
            os.kill(os.getpid(), signal.SIGKILL)
        if "raise" in text:
            raise RecursionError("maximum recursion depth exceeded\nsecond line")
        return FileReport(path)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_file_that_breaks_the_engine_is_one_line_and_the_rest_goes_on(tmp_path, monkeypatch, jobs):
    monkeypatch.setattr(analysis, "load_engine", FakeEngine)
    names = ["a", "b", "raise", "c", "d"] + (["die"] if jobs > 1 else [])
    for name in names:
        (tmp_path / f"{name}.py").write_text(f"# {name}: triton.jit\n")
    todo = check.Work(tuple(r.code for r in all_rules()))
    outcome = check.check_paths(files.walk([str(tmp_path)]), todo, jobs)
    told = {os.path.basename(p.path): p.message for p in outcome.problems}
    assert outcome.exit_code == 2
    assert outcome.counts.files == len(names)
    assert told.pop("raise.py") == (
        "internal error: RecursionError: maximum recursion depth exceeded; the file was not checked"
    )
    if jobs > 1:
        assert "SIGKILL" in told.pop("die.py")
    assert not told


def test_a_kernel_that_breaks_the_engine_is_one_line_and_the_others_go_on(tmp_path, monkeypatch):
    """An error nobody foresaw costs the kernel in which it happens, not its file."""
    from coalesce_lint import engine
    from coalesce_lint.kernels.interpret import Interpreter

    head = "import triton\nimport triton.language as tl\n\n\n"
    body = "(x_ptr, n):\n    tl.store(x_ptr + tl.arange(0, 64) * 8, 0.0)\n\n\n"
    text = head + "".join(f"@triton.jit\ndef {name}{body}" for name in ("before", "broken", "after"))
    run = Interpreter.run

    def breaks(self):
        if self.kernel.name == "broken":
            raise KeyError("gone")
        run(self)

    monkeypatch.setattr(Interpreter, "run", breaks)
    report = engine.analyze_text(text, "k.py")
    assert [len(k.accesses) for k in report.kernels] == [1, 0, 1]
    (error,) = report.errors
    assert (error.line, error.kernel) == (11, "broken")
    assert error.text == "broken: internal error: KeyError: 'gone'; the kernel was not read to its end"


def test_progress_is_told_once_a_task():
    told = []
    pool.run(abs, [-1, -2, -3], 2, progress=lambda done, of: told.append((done, of)))
    assert told == [(1, 3), (2, 3), (3, 3)]
