"""One run of ``verify``: a folder, the subprocesses that work in it, progress on standard error, and no
leftovers."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coalesce_lint.failures import debugging
from coalesce_lint.verify.stage import Stage, StageError, environment, exit_text, kill_group

COMPILE = "coalesce_lint.verify.compile_worker"
PROVE = "coalesce_lint.verify.proof_worker"
MEASURE = "coalesce_lint.verify.measure_worker"

VARIABLES = {
    COMPILE: {"TRITON_ALWAYS_COMPILE": "1", "TRITON_INTERPRET": "0", "TRITON_DEFAULT_FP_FUSION": "1"},
    PROVE: {"TRITON_INTERPRET": "1"},
    MEASURE: {"TRITON_INTERPRET": "0"},
}


class Unverifiable(RuntimeError):
    """Nothing can be verified; ``str()`` is one line that says why and what to do."""


@dataclass
class Settings:
    """What was asked for. Times in seconds, memory in bytes."""

    mode: str  #: "script", "module" or "kernel"
    script: str = ""
    module: str = ""
    kernel: str = ""
    args: list[str] = field(default_factory=list)
    arguments: dict[str, Any] = field(default_factory=dict)
    grid: str | None = None
    num_warps: int | None = None
    everything: bool = False
    line: int | None = None
    counters: bool = False
    launches: int = 1
    timeout: float = 300.0
    limit_bytes: int = 8 * 10**9
    arch: int | None = None
    device: str = "auto"  #: "auto", "gpu" or "cpu"
    programs: int = 24
    rounds: int = 60
    command: str = ""


class Progress:
    """The stage at hand on standard error: one line that is overwritten on a terminal, plain lines
    elsewhere."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.terminal = sys.stderr.isatty()
        self.begun = time.monotonic()
        self.width = 0

    def say(self, text: str, done: int | None = None, total: int | None = None) -> None:
        if self.quiet:
            return
        seconds = time.monotonic() - self.begun
        if self.terminal:
            bar = ""
            if total:
                filled = round(20 * (done or 0) / total)
                bar = "[" + "#" * filled + "." * (20 - filled) + "] "
            line = f"\r{bar}{text} ({seconds:.0f} s)"
            sys.stderr.write(line.ljust(self.width))
            self.width = len(line)
        else:
            count = f" ({done} of {total})" if total else ""
            sys.stderr.write(f"coalesce-lint: {text}{count}, {seconds:.1f} s\n")
        sys.stderr.flush()

    def clear(self) -> None:
        if self.terminal and self.width and not self.quiet:
            sys.stderr.write("\r" + " " * self.width + "\r")
            sys.stderr.flush()
            self.width = 0


class Session:
    """Owns the folder and the stages; ``close`` (or leaving the ``with``) ends and removes all of them."""

    def __init__(self, settings: Settings, progress: Progress) -> None:
        self.settings = settings
        self.progress = progress
        base = os.environ.get("COALESCE_LINT_TMPDIR")
        self.folder = Path(tempfile.mkdtemp(prefix="coalesce-lint-verify-", dir=base))
        self.stages: dict[str, Stage] = {}
        self.running: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for stage in self.stages.values():
            stage.close()
        for process in self.running:
            kill_group(process)
        shutil.rmtree(self.folder, ignore_errors=True)

    def warm(self, module: str) -> Stage:
        """The stage of that module, started where it is not running."""
        stage = self.stages.get(module)
        if stage is None or stage.process.poll() is not None:
            variables = dict(VARIABLES[module])
            variables.setdefault("TRITON_CACHE_DIR", str(self.folder / "cache"))
            stage = self.stages[module] = Stage(module.rpartition(".")[2], module, self.folder, variables)
        return stage

    def end(self, module: str) -> None:
        """Ends a stage; the next task for it starts another."""
        stage = self.stages.pop(module, None)
        if stage is not None:
            stage.close()

    def ask(self, module: str, task: dict[str, Any], timeout: float | None = None) -> dict[str, Any]:
        """A stage's answer, ``{"error": ...}`` where it failed, died or took too long."""
        try:
            answer = self.warm(module).ask(task, timeout or self.settings.timeout)
            if debugging() and "traceback" in answer:
                sys.stderr.write(answer["traceback"])
            return answer
        except StageError as error:
            return {"error": str(error), "kind": "StageError"}

    def capture(self, interpreted: bool) -> dict[str, Any]:
        """Runs the user's program and gives back its launches. Raises Unverifiable."""
        settings = self.settings
        task = {
            "mode": settings.mode, "script": settings.script, "module": settings.module,
            "kernel": settings.kernel,
            "args": settings.args, "arguments": settings.arguments, "grid": settings.grid,
            "num_warps": settings.num_warps, "folder": str(self.folder), "keep": settings.launches,
            "limit_bytes": settings.limit_bytes,
        }  # fmt: skip
        source = self.folder / "capture.json"
        source.write_text(json.dumps(task))
        log = self.folder / "capture.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "coalesce_lint.verify.capture_worker", str(source)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment({"TRITON_INTERPRET": "1" if interpreted else "0"}),
                start_new_session=True,
            )
        self.running.append(process)
        late = False
        try:
            process.wait(settings.timeout)
        except subprocess.TimeoutExpired:
            late = True
            kill_group(process)
        found: dict[str, Any] = {"launches": [], "notes": [], "outcome": None}
        target = self.folder / "launches.json"
        if target.exists():
            found = json.loads(target.read_text())
        known = found["outcome"] or {}
        if late:
            error = f"it ran longer than {settings.timeout:g} s (--timeout)"
            found["outcome"] = {**known, "ok": False, "error": error}
        elif "ok" not in known:
            error = f"it ended with {exit_text(process.returncode)}: {tail(log)}"
            found["outcome"] = {**known, "ok": False, "error": error}
        return found


def tail(log: Path) -> str:
    with contextlib.suppress(OSError):
        lines = [t.strip() for t in log.read_text(errors="replace").splitlines() if t.strip()]
        if lines:
            return lines[-1][-300:]
    return "it said nothing"


@contextlib.contextmanager
def cleaned(session: Session) -> Iterator[Session]:
    """Closes the session also when a signal asks this process to end."""
    import signal

    def leave(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    previous: list[tuple[int, Any]] = []
    with contextlib.suppress(ValueError):  # not in the main thread
        for asked in (signal.SIGTERM, signal.SIGHUP):
            previous.append((asked, signal.signal(asked, leave)))
    try:
        with session:
            yield session
    finally:
        for number, handler in previous:
            signal.signal(number, handler)
