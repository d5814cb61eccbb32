"""Subprocesses that stay for several tasks, each with a timeout, and that do not outlive their parent.

Tasks go down as lines of JSON, answers come back as files: the user's code may print what it likes.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from coalesce_lint.verify.worker import describe

#: Seconds that starting Python, torch and Triton may take on a busy machine.
START_SECONDS = 120.0
_PR_SET_PDEATHSIG = 1


class StageError(RuntimeError):
    """A stage died, did not start or took too long; ``str()`` is one line."""


def environment(extra: dict[str, str] | None = None) -> dict[str, str]:
    """This process's environment with the tool importable and ``extra`` set."""
    root = str(Path(__file__).resolve().parents[2])
    variables = {**os.environ, **(extra or {})}
    variables["PYTHONPATH"] = os.pathsep.join(p for p in (root, variables.get("PYTHONPATH")) if p)
    return variables


class Stage:
    """The parent's side. ``python -m module arguments`` starts at once and waits for tasks."""

    def __init__(
        self,
        name: str,
        module: str,
        folder: Path,
        extra: dict[str, str] | None = None,
        python: str | None = None,
        prefix: list[str] | None = None,
    ) -> None:
        self.name = name
        self.folder = folder
        self.serial = 0
        self.log = folder / f"{name}.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*(prefix or []), python or sys.executable, "-m", module, "--serve"],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment(extra),
                start_new_session=True,
            )

    def ask(self, task: dict[str, Any], timeout: float) -> dict[str, Any]:
        """The answer to one task, ``{"error": ...}`` where it failed. Raises StageError."""
        self.serial += 1
        answer = self.folder / f"{self.name}-{self.serial}.json"
        line = json.dumps({"task": task, "answer": str(answer)}) + "\n"
        try:
            assert self.process.stdin is not None
            self.process.stdin.write(line.encode())
            self.process.stdin.flush()
        except OSError:
            raise StageError(f"{self.name} could not start: {self.tail()}") from None
        deadline = time.monotonic() + timeout + (START_SECONDS if self.serial == 1 else 0)
        while not answer.exists():
            if self.process.poll() is not None and not answer.exists():
                raise StageError(
                    f"{self.name} ended with {exit_text(self.process.returncode)}: {self.tail()}"
                )
            if time.monotonic() > deadline:
                self.close()
                raise StageError(f"{self.name} took longer than {timeout:g} s")
            time.sleep(0.005)
        found: dict[str, Any] = json.loads(answer.read_text())
        answer.unlink()
        return found

    def tail(self) -> str:
        """The last line that the process wrote."""
        with contextlib.suppress(OSError):
            lines = [t.strip() for t in self.log.read_text(errors="replace").splitlines() if t.strip()]
            if lines:
                return lines[-1][-300:]
        return "it said nothing"

    def close(self) -> None:
        """Ends the process and all that it started."""
        kill_group(self.process)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(Exception):
        process.wait(10)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


def exit_text(code: int) -> str:
    if code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-code).name
    return f"exit code {code}"


def die_with_parent() -> None:
    """Linux ends this process when its parent ends, however that comes."""
    with contextlib.suppress(Exception):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def serve(make: Callable[[], Callable[[dict[str, Any]], dict[str, Any]]]) -> None:
    """The child's side: answers tasks until its input ends."""
    die_with_parent()
    answer_task: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    trouble: dict[str, Any] = {}
    try:
        import torch  # noqa: F401  (it takes seconds: now, while the program runs, not with the first task)

        answer_task = make()
    except Exception as error:
        trouble = {"error": describe(error), "traceback": traceback.format_exc()}
    for line in sys.stdin:
        request = json.loads(line)
        answer = trouble
        if answer_task is not None:
            try:
                answer = answer_task(request["task"])
            except Exception as error:
                answer = {
                    "error": describe(error),
                    "kind": type(error).__name__,
                    "traceback": traceback.format_exc(),
                }
        target = Path(request["answer"])
        temporary = target.with_suffix(".new")
        temporary.write_text(json.dumps(answer))
        temporary.replace(target)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
