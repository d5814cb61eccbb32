"""Time and counters on a GPU, from this process's side."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coalesce_lint.verify.session import Session
    from coalesce_lint.verify.trial import Trial, Workshop


@functools.cache
def _nvidia_smi() -> dict[str, Any] | None:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None
    try:
        done = subprocess.run(
            [tool, "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"],
            capture_output=True, text=True, timeout=30, check=True,
        )  # fmt: skip
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
    raise NotImplementedError
