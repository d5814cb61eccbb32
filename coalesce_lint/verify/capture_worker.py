"""Runs the user's program and keeps its kernel launches. Runs as a subprocess, for it runs the user's code.

``JITFunction.run`` and ``InterpretedFunction.run`` are wrapped on their classes: autotuning and heuristics
are merged by then, and arguments, grid and options are those of the launch. A launch's memory is copied
before it runs. Not seen: launches that do not go through these methods (Inductor's, ahead-of-time compiled
ones, replays of CUDA graphs).
"""

from __future__ import annotations

import contextlib
import json
import os
import runpy
import sys
import traceback
from pathlib import Path
from typing import Any

from coalesce_lint.verify import synthesize
from coalesce_lint.verify.watcher import Watcher
from coalesce_lint.verify.without_gpu import OnCpu, prepare_interpreter
from coalesce_lint.verify.worker import describe


def run_program(task: dict[str, Any]) -> None:
    """Runs what the task names. SystemExit and exceptions of the program go through."""
    if task["mode"] == "script":
        sys.argv = [task["script"], *task["args"]]
        sys.path[0] = os.path.dirname(os.path.abspath(task["script"]))
        runpy.run_path(task["script"], run_name="__main__")
    elif task["mode"] == "module":
        sys.argv = [task["module"], *task["args"]]
        sys.path[0] = os.getcwd()
        runpy.run_module(task["module"], run_name="__main__", alter_sys=True)
    else:
        synthesize.launch(task)


def main() -> None:
    task = json.loads(Path(sys.argv[1]).read_text())
    watcher = Watcher(Path(task["folder"]), task["keep"], task["limit_bytes"])
    interpreted = os.environ.get("TRITON_INTERPRET") == "1"
    outcome: dict[str, Any] = {"ok": True}
    try:
        import torch  # noqa: F401
        import triton

        outcome["triton"] = watcher.facts["triton"] = triton.__version__
        if interpreted:
            prepare_interpreter()
        watcher.install()
        with OnCpu()() if interpreted else contextlib.nullcontext():
            run_program(task)
    except SystemExit as leave:
        if leave.code not in (None, 0):
            outcome = {**outcome, "ok": False, "error": f"it ended with exit code {leave.code}"}
    except BaseException as error:
        place = user_place(error)
        traceback.print_exc()
        outcome = {**outcome, "ok": False, "error": describe(error), "place": place}
    watcher.save(outcome)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def user_place(error: BaseException) -> list[Any] | None:
    """The innermost line of the user's code that an exception went through."""
    import sysconfig

    libraries = tuple(
        p
        for p in (
            sysconfig.get_paths()["stdlib"],
            sysconfig.get_paths()["purelib"],
            os.path.dirname(__file__),
        )
    )
    found = None
    for frame in traceback.extract_tb(error.__traceback__):
        if not frame.filename.startswith((*libraries, "<frozen")):
            found = [frame.filename, frame.lineno]
    return found


if __name__ == "__main__":
    main()
