"""Subprocesses that do what must not happen in this process: import the user's file, run Triton.

Tasks go in and answers come out as JSON files, for the user's file may print what it likes.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any


class WorkerError(RuntimeError):
    """The subprocess died, timed out or could not start."""


def main(make: Callable[[], Callable[[dict[str, Any]], dict[str, Any]]]) -> None:
    """The subprocess's side: answers each task; an exception becomes ``{"error": ...}``."""
    tasks = json.loads(Path(sys.argv[1]).read_text())
    answers: list[dict[str, Any]] = []
    try:
        answer = make()
    except Exception as error:
        Path(sys.argv[2]).write_text(json.dumps([{"error": describe(error)}] * len(tasks)))
        return
    for task in tasks:
        try:
            with limited(task.get("seconds")):
                answers.append(answer(task))
        except Exception as error:
            answers.append({"error": describe(error), "traceback": traceback.format_exc(), **details(error)})
        # Rewritten after each task, so that what was done before a crash or a timeout is not lost.
        Path(sys.argv[2]).write_text(json.dumps(answers))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # Triton's bindings complain at length about leaked objects at a normal exit.


@contextlib.contextmanager
def limited(seconds: float | None) -> Iterator[None]:
    """Ends the process where something runs longer than ``seconds``, be it in the compiler's own code, which
    no exception may interrupt. ``run`` then goes on with the next task."""
    if not seconds:
        yield
        return
    # A stream of its own, for standard error may lead elsewhere meanwhile (``failures.compiling``).
    with os.fdopen(os.dup(2), "w") as told:
        faulthandler.dump_traceback_later(seconds, exit=True, file=told)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


def describe(error: BaseException) -> str:
    """One line about an exception, its cause included; those with fields of their own say all in words."""
    if details(error):
        return str(error)
    text = f"{type(error).__name__}: {error}".strip().replace("\n", " ")
    cause = error.__cause__
    return text if cause is None else f"{text} (from {type(cause).__name__}: {cause})".replace("\n", " ")


def details(error: BaseException) -> dict[str, Any]:
    """What an exception says in fields: ``place`` (file and line) and ``missing`` (names of arguments)."""
    found = {"place": getattr(error, "place", None), "missing": getattr(error, "names", None)}
    return {key: value for key, value in found.items() if value is not None}


def run(
    module: str,
    tasks: list[dict[str, Any]],
    timeout: float,
    python: str | None = None,
    environment: dict[str, str] | None = None,
) -> list[dict[str, Any]]:
    """Runs ``python -m module`` over the tasks and returns one answer a task, ``{"error": ...}`` for what
    failed.

    ``timeout`` is in seconds for all tasks together; those not reached get an error. A task that ends the
    process, by a crash or by its own ``seconds``, costs its own answer only. ``python`` is the interpreter of
    the environment that has torch and triton (this one by default).
    """
    deadline = time.monotonic() + timeout
    answers: list[dict[str, Any]] = []
    while len(answers) < len(tasks):
        left = deadline - time.monotonic()
        found, reason = (
            _run_once(module, tasks[len(answers) :], left, python, environment) if left > 0 else ([], "")
        )
        answers += found
        if len(answers) < len(tasks):
            answers.append({"error": reason or f"timed out after {timeout:g} s"})
        if not reason:
            answers += [{"error": "not reached"}] * (len(tasks) - len(answers))
    return answers


def _run_once(
    module: str,
    tasks: list[dict[str, Any]],
    timeout: float,
    python: str | None,
    environment: dict[str, str] | None,
) -> tuple[list[dict[str, Any]], str]:
    """The answers of one subprocess, and why the task behind them has none ("" where all time is used up)."""
    root = str(Path(__file__).resolve().parents[2])
    with tempfile.TemporaryDirectory(prefix="coalesce-lint-") as folder:
        source, target = Path(folder, "tasks.json"), Path(folder, "answers.json")
        source.write_text(json.dumps(tasks))
        variables = {**os.environ, **(environment or {})}
        variables["PYTHONPATH"] = os.pathsep.join(p for p in (root, variables.get("PYTHONPATH")) if p)
        variables.setdefault("TRITON_CACHE_DIR", str(Path(folder, "cache")))
        reason = ""
        try:
            done = subprocess.run(
                [python or sys.executable, "-m", module, str(source), str(target)],
                capture_output=True,
                text=True,
                timeout=timeout,
                env=variables,
            )
            reason = _ending(done)
        except subprocess.TimeoutExpired:
            pass
        except OSError as error:
            raise WorkerError(str(error)) from error
        return (json.loads(target.read_text()) if target.exists() else []), reason


def _ending(done: subprocess.CompletedProcess[str]) -> str:
    """Why a worker ended, in one line."""
    overtime = re.search(r"^Timeout \((?:(\d+) day.*, )?(\d+):(\d+):(\d+)", done.stderr, re.MULTILINE)
    if overtime:
        hours, minutes, seconds = (int(n) for n in overtime.groups()[1:])
        return f"timed out after {3600 * hours + 60 * minutes + seconds} s"
    last = (done.stderr.strip().splitlines() or [""])[-1]
    return f"the worker ended with {done.returncode}: {last[:300]}"
