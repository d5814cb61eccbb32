"""Whether an untested Triton can be trusted: two tiny kernels whose counts are known.

Counts rest on the compiler's text formats and on the interpreter; a release that changes either must not
lead to numbers that look measured.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from coalesce_lint.verify.stage import environment

if TYPE_CHECKING:
    from coalesce_lint.verify.session import Session

#: Triton minors whose counts were compared with hardware counters.
TESTED = ("3.6", "3.9")

SOURCE = """
import torch
import triton
import triton.language as tl


@triton.jit
def rows(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i))


@triton.jit
def columns(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + tl.program_id(0) * BLOCK + i, tl.load(x_ptr + i * n + tl.program_id(0)))


x = torch.arange(128 * 16, dtype=torch.float32)
y = torch.empty_like(x)
rows[(16,)](x, y, BLOCK=128)
columns[(16,)](x, y, 16, BLOCK=128)
"""

#: (kernel, kind, sectors over the grid): 16 programs of 128 floats.
EXPECTED = {
    ("rows", "load"): 256.0, ("rows", "store"): 256.0,
    ("columns", "load"): 2048.0, ("columns", "store"): 256.0,
}  # fmt: skip


def minor_of(version: str) -> str:
    found = re.match(r"\d+\.\d+", version)
    return found.group() if found else version


def trouble(session: Session, version: str, arch: int) -> str | None:
    """Why verdicts of this Triton are not to be trusted, None where it is tested or the self-test passes."""
    if minor_of(version) in TESTED:
        return None
    counted = _counts(session, arch)
    if counted == EXPECTED:
        return None
    return f"Triton {version} is not one of those tested ({', '.join(TESTED)}) and the self-test failed"


def _counts(session: Session, arch: int) -> dict[tuple[str, str], float]:
    import json
    import subprocess

    from coalesce_lint.verify.session import COMPILE, PROVE

    folder = session.folder / "selftest"
    folder.mkdir(exist_ok=True)
    (folder / "selftest_kernels.py").write_text(SOURCE)
    task = {"mode": "script", "script": str(folder / "selftest_kernels.py"), "args": [],
            "folder": str(folder), "keep": 1, "limit_bytes": 10**9}  # fmt: skip
    (folder / "task.json").write_text(json.dumps(task))
    found: dict[tuple[str, str], float] = {}
    try:
        subprocess.run(
            [sys.executable, "-m", "coalesce_lint.verify.capture_worker", str(folder / "task.json")],
            env=environment({"TRITON_INTERPRET": "1"}), capture_output=True, timeout=120, check=True,
        )  # fmt: skip
        launches: list[dict[str, Any]] = json.loads((folder / "launches.json").read_text())["launches"]
    except (OSError, subprocess.SubprocessError, ValueError):
        return found
    for launch in launches:
        common = {"path": str(folder / launch["closure"]), "kernel": launch["kernel"], "arch": arch,
                  "launch": launch, "folder": str(folder), "programs": 24}  # fmt: skip
        compiled = session.ask(COMPILE, common)
        if "error" in compiled:
            continue
        more = {"operations": compiled["operations"], "num_warps_compiled": compiled["num_warps"]}
        examined = session.ask(PROVE, {**common, **more, "mode": "examine"})
        for site in examined.get("sites", []):
            found[launch["kernel"], site["kind"]] = site["counts"]["sectors"]
    return found
