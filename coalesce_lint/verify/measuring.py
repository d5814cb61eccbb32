"""Time and counters on a GPU, from this process's side."""

from __future__ import annotations

import csv
import functools
import io
import json
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from coalesce_lint.verify.session import MEASURE
from coalesce_lint.verify.stage import environment, kill_group

if TYPE_CHECKING:
    from coalesce_lint.verify.session import Session
    from coalesce_lint.verify.trial import Trial, Workshop

#: What ncu is asked for, by the names in the results.
METRICS = {
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "load_sectors",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": "load_requests",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": "store_sectors",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": "store_requests",
    "lts__t_sectors_op_read.sum": "l2_read_sectors",
    "lts__t_sectors_op_write.sum": "l2_write_sectors",
    "dram__bytes_read.sum": "dram_read_bytes",
    "dram__bytes_write.sum": "dram_write_bytes",
}


@functools.cache
def _nvidia_smi() -> dict[str, Any] | None:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None
    try:
        done = subprocess.run(
            [tool, "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    parts = [p.strip() for p in done.stdout.splitlines()[0].split(",")] if done.stdout.strip() else []
    if len(parts) != 3 or not re.fullmatch(r"\d+\.\d+", parts[2]):
        return None
    return {"name": parts[0], "driver": parts[1], "arch": int(parts[2].replace(".", ""))}


def find_gpu(wanted: str) -> dict[str, Any] | None:
    """Name, driver and architecture of the first GPU; None without one, or where the CPU is asked for."""
    return None if wanted == "cpu" else _nvidia_smi()


def measure(session: Session, workshop: Workshop, trials: list[Trial], facts: dict[str, Any]) -> None:
    """Times each trial against the original; what comes of it is the trial's ``measured``."""
    settings, say = session.settings, session.progress.say
    if "bench" not in facts:
        say("measuring what a copy reaches")
        answer = session.ask(MEASURE, {"mode": "facts"})
        facts["bench"] = answer
    tasks = [task_of(session, workshop, t) for t in trials]
    for number, (trial, task) in enumerate(zip(trials, tasks, strict=True)):
        say(f"{workshop.subject.launch['kernel']}: timing", number, len(trials))
        answer = session.ask(MEASURE, task)
        trial.measured = {"refused": gpu_reason(answer)} if "error" in answer else answer
    if settings.counters:
        say(f"{workshop.subject.launch['kernel']}: reading counters")
        count(session, trials, tasks, facts)


def gpu_reason(answer: dict[str, Any]) -> str:
    text = str(answer["error"])
    if "OutOfResources" in text:
        return f"the GPU has too few registers or too little shared memory for it: {text}"
    return f"it failed on the GPU: {text}"


def task_of(session: Session, workshop: Workshop, trial: Trial) -> dict[str, Any]:
    subject = workshop.subject
    return {
        "mode": "measure",
        "folder": str(session.folder),
        "original": workshop.task(subject.launch),
        "variant": workshop.task(trial.launch),
        "written": subject.examined["written"],
        "bytes_moved": subject.examined["bytes_moved"],
        "proxy": trial.proxy,
    }


def count(session: Session, trials: list[Trial], tasks: list[dict[str, Any]], facts: dict[str, Any]) -> None:
    """Runs original and variants once under ncu; each trial's ``measured`` gets "counters" for both."""
    tool = shutil.which("ncu") or shutil.which("nv-nsight-cu-cli")
    if tool is None:
        facts["counters"] = "no counters: ncu is not on the PATH"
        return
    names = sorted({t["launch"]["kernel"] for task in tasks for t in (task["original"], task["variant"])})
    source, answer = session.folder / "count.json", session.folder / "count-answer.json"
    lines = [json.dumps({"task": {**task, "mode": "count"}, "answer": str(answer)}) for task in tasks]
    source.write_text("\n".join(lines) + "\n")
    pattern = "|".join(re.escape(n) for n in names)
    with source.open("rb") as feed, (session.folder / "count.log").open("wb") as log:
        process = subprocess.Popen(
            [
                tool, "--clock-control", "none", "--metrics", ",".join(METRICS), "--csv", "--page", "raw",
                "--print-units", "base", "--kernel-name", f"regex:^({pattern})$", "--target-processes", "all",
                sys.executable, "-m", MEASURE, "--serve",
            ],
            stdin=feed,
            stdout=subprocess.PIPE,
            stderr=log,
            env=environment({"TRITON_INTERPRET": "0"}),
            start_new_session=True,
        )  # fmt: skip
        session.running.append(process)
        try:
            output = process.communicate(timeout=session.settings.timeout)[0].decode(errors="replace")
        except subprocess.TimeoutExpired:
            kill_group(process)
            facts["counters"] = "no counters: ncu took too long"
            return
    text = output + (session.folder / "count.log").read_text(errors="replace")
    if "ERR_NVGPUCTRPERM" in text:
        facts["counters"] = (
            "no counters: this user may not read them (ERR_NVGPUCTRPERM); get the permission or run as root"
        )
        return
    rows = parse(output)
    if not rows:
        last = [t for t in text.splitlines() if t.strip()][-1:] or ["it said nothing"]
        facts["counters"] = f"no counters: ncu failed: {last[0][:200]}"
        return
    for trial, task in zip(trials, tasks, strict=True):
        before = rows.get(task["original"]["launch"]["kernel"])
        after = rows.get(task["variant"]["launch"]["kernel"])
        if trial.measured is not None and before and after:
            trial.measured["counters"] = {"before": before, "after": after}


def parse(output: str) -> dict[str, dict[str, float]]:
    """The metrics of the last launch of each kernel, from ncu's raw CSV page."""
    lines = [t for t in output.splitlines() if t.startswith('"')]
    found: dict[str, dict[str, float]] = {}
    for row in csv.DictReader(io.StringIO("\n".join(lines))):
        name = row.get("Kernel Name", "")
        if not name:
            continue  # the line of units
        values = {}
        for metric, label in METRICS.items():
            text = (row.get(metric) or "").replace(",", "")
            with_number = re.fullmatch(r"[\d.]+(?:[eE][+-]?\d+)?", text)
            if with_number:
                values[label] = float(text)
        found[name.split("(")[0]] = values
    return found
