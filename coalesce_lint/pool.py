"""Worker processes that survive the death of one: a file that kills its worker costs that file only."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

#: Seconds after which a worker that is still at one file is ended.
FILE_LIMIT = 300.0


@dataclass
class _Worker:
    process: BaseProcess
    pipe: Connection
    task: int
    started: float


def run(
    work: Callable[[Any], Any],
    tasks: Sequence[Any],
    jobs: int,
    limit: float = FILE_LIMIT,
    progress: Callable[[int, int], None] | None = None,
    size: Callable[[Any], int] | None = None,
    lost: str = "checked",
) -> list[Any]:
    """``work(task)`` of every task, in the order of ``tasks``, computed by up to ``jobs`` processes.

    Tasks of a large ``size`` are begun first, so that no process waits long for the last one.
    Where a worker dies or takes longer than ``limit`` seconds, the answer is a line of text that says so;
    ``lost`` is what was not done with the task's file then. ``work`` must not raise. ``progress`` is told how
    many of how many tasks are done.
    """
    # A forked worker has the modules that are already imported; other systems must start afresh.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    answers: list[Any] = [None] * len(tasks)
    pending = list(range(len(tasks)))[::-1]
    if size is not None:
        pending.sort(key=lambda k: size(tasks[k]))
    workers: list[_Worker] = []
    done = 0
    try:
        while pending or workers:
            while pending and len(workers) < jobs:
                workers.append(_start(context, work))
                _send(workers[-1], pending.pop(), tasks)
            ready = wait([w.pipe for w in workers], timeout=_time_left(workers, limit))
            for worker in list(workers):
                if worker.pipe in ready:
                    alive = _receive(worker, answers, lost)
                elif time.monotonic() - worker.started > limit:
                    answers[worker.task] = f"not {lost}: it took longer than {limit:g} seconds"
                    worker.process.kill()
                    alive = False
                else:
                    continue
                done += 1
                if progress is not None:
                    progress(done, len(tasks))
                if alive and pending:
                    _send(worker, pending.pop(), tasks)
                else:
                    workers.remove(worker)
                    _stop(worker)
    finally:
        for worker in workers:
            worker.process.kill()
            _stop(worker)
    return answers


def _start(context: Any, work: Callable[[Any], Any]) -> _Worker:
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, work), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours, -1, 0.0)


def _serve(pipe: Connection, work: Callable[[Any], Any]) -> None:
    """A worker: answers tasks until None comes, or until its parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = os.getppid()
    try:
        while True:
            while not pipe.poll(5.0):
                if os.getppid() != parent:
                    return
            task = pipe.recv()
            if task is None:
                return
            pipe.send(work(task))
    except (EOFError, OSError):
        return


def _send(worker: _Worker, index: int, tasks: Sequence[Any]) -> None:
    worker.task, worker.started = index, time.monotonic()
    with contextlib.suppress(OSError):  # a worker that is gone is found out on receiving
        worker.pipe.send(tasks[index])


def _receive(worker: _Worker, answers: list[Any], lost: str) -> bool:
    """Takes the worker's answer; False where it died instead."""
    try:
        answers[worker.task] = worker.pipe.recv()
        return True
    except (EOFError, OSError):
        worker.process.join()
        cause = _cause(worker.process.exitcode)
        answers[worker.task] = f"internal error: the analysis {cause}; the file was not {lost}"
        return False


def _cause(exitcode: int | None) -> str:
    if exitcode is not None and exitcode < 0:
        try:
            return f"was ended by {signal.Signals(-exitcode).name}"
        except ValueError:
            return f"was ended by signal {-exitcode}"
    return f"ended with code {exitcode}"


def _stop(worker: _Worker) -> None:
    with contextlib.suppress(OSError):
        worker.pipe.send(None)
    worker.pipe.close()
    worker.process.join()


def _time_left(workers: Sequence[_Worker], limit: float) -> float:
    now = time.monotonic()
    return max(0.0, min(w.started + limit - now for w in workers)) + 0.01
