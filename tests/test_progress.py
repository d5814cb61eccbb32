"""The progress bar: on a terminal, in long runs, and nowhere else."""

import os
import pty
import select
import subprocess
import sys

import pytest
from support import STRIDED

#: A run in which each file takes a while.
PROGRAM = """
import sys, time
from coalesce_lint import check, progress
from coalesce_lint.cli import main
progress.DELAY = {delay}
original = check.check_source
def slow(source, todo):
    time.sleep(0.05)
    return original(source, todo)
check.check_source = slow
sys.exit(main(["--no-cache", "--jobs", "{jobs}", *{arguments!r}, "."]))
"""


def on_a_terminal(folder, delay=0.0, jobs=1, arguments=(), **env):
    """Standard output, and what a terminal gets that is standard error."""
    ours, theirs = pty.openpty()
    clean = {k: v for k, v in os.environ.items() if k != "CI"}
    program = PROGRAM.format(delay=delay, jobs=jobs, arguments=list(arguments))
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**clean, "TERM": "xterm", **env},
    )
    os.close(theirs)
    shown = b""
    while select.select([ours], [], [], 60)[0]:
        try:
            data = os.read(ours, 4096)
        except OSError:  # the other side is closed
            break
        if not data:
            break
        shown += data
    os.close(ours)
    output = process.stdout.read()
    assert process.wait(60) == 1
    return output, shown.decode()


@pytest.fixture
def folder(tmp_path):
    for number in range(6):
        (tmp_path / f"k{number}.py").write_text(STRIDED)
    return tmp_path


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_bar_is_drawn_and_wiped(folder, jobs):
    output, shown = on_a_terminal(folder, jobs=jobs)
    assert output.count(b"CL101") == 6 and b"\x1b" not in output and b"\r" not in output
    assert "[" in shown and "/6" in shown
    before, summary = shown.rsplit("\r\x1b[2K\x1b[?25h", 1)
    assert summary == "coalesce-lint: 6 files (6 parsed), 6 kernels, 12 accesses, 0 unknown, 6 findings\r\n"
    assert "\n" not in before  # it stays on its line


def test_a_short_run_has_none(folder):
    _, shown = on_a_terminal(folder, delay=600.0)
    assert shown.startswith("coalesce-lint: 6 files")


def test_quiet_is_quiet(folder):
    assert on_a_terminal(folder, arguments=["--quiet"])[1] == ""


@pytest.mark.parametrize("env", [{"CI": "true"}, {"TERM": "dumb"}])
def test_none_in_logs(folder, env):
    assert on_a_terminal(folder, **env)[1].startswith("coalesce-lint: 6 files")


def test_none_in_a_pipe(folder):
    program = PROGRAM.format(delay=0.0, jobs=1, arguments=[])
    told = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True)
    assert told.stderr.startswith("coalesce-lint: 6 files")
