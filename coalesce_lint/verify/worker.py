"""Subprocesses that do what must not happen in this process: import the user's file, run Triton.

Tasks go in and answers come out as JSON files, for the user's file may print what it likes.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
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
    """Raises TimeoutError in what runs longer than ``seconds``: tasks behind it get their turn."""

    def stop(*_: Any) -> None:
        raise TimeoutError(f"timed out after {seconds:g} s")

    if not seconds or not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


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

    ``timeout`` is in seconds for all tasks together; those not reached get an error. ``python`` is the
    interpreter of the environment that has torch and triton (this one by default).
    """
    root = str(Path(__file__).resolve().parents[2])
    with tempfile.TemporaryDirectory(prefix="coalesce-lint-") as folder:
        source, target = Path(folder, "tasks.json"), Path(folder, "answers.json")
        source.write_text(json.dumps(tasks))
        variables = {**os.environ, **(environment or {})}
        variables["PYTHONPATH"] = os.pathsep.join(p for p in (root, variables.get("PYTHONPATH")) if p)
        variables.setdefault("TRITON_CACHE_DIR", str(Path(folder, "cache")))
        reason = "not reached"
        try:
            done = subprocess.run(
                [python or sys.executable, "-m", module, str(source), str(target)],
                capture_output=True,
                text=True,
                timeout=timeout,
                env=variables,
            )
            if done.returncode:
                reason = f"worker ended with {done.returncode}: {done.stderr.strip()[-500:]}"
        except subprocess.TimeoutExpired:
            reason = f"timed out after {timeout:g} s"
        except OSError as error:
            raise WorkerError(str(error)) from error
        answers = json.loads(target.read_text()) if target.exists() else []
        return answers + [{"error": reason}] * (len(tasks) - len(answers))
