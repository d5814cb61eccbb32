"""What several tests share: the command line as a subprocess, and access records made by hand."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from coalesce_lint.access import Access, Axis, Kernel, Part, Place

ROOT = Path(__file__).resolve().parent.parent


def run(*args: object, cwd: Path | None = None, **kw: Any) -> subprocess.CompletedProcess[str]:
    """``coalesce-lint ARGS`` in a process of its own."""
    env = {**os.environ, **kw.pop("env", {})}
    command = [sys.executable, "-m", "coalesce_lint", *map(str, args)]
    return subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, errors="surrogateescape", timeout=120, **kw
    )


def access(pattern: str = "strided", **kw: Any) -> Access:
    """A strided load of ``x_ptr`` over one axis of 256 lanes, or what ``kw`` makes of it."""
    stride = kw.get("lane_stride", "n_cols")
    values: dict[str, Any] = {
        "place": Place("k.py", 5, 8, 5, 40),
        "op": "load",
        "pointer": "x_ptr",
        "offset": "n_cols*i0 + pid0",
        "pattern": pattern,
        "lane_axis": 0,
        "lane_stride": stride,
        "condition": None,
        "axes": [Axis(0, "256", stride)],
        "notes": [],
        "reason": None,
        "kernel": "kernel",
        "part": Part(int(stride), "", 0, 0) if str(stride).isdecimal() else None,
    }
    return Access(**{**values, **kw})


def kernel(*accesses: Access, **kw: Any) -> Kernel:
    return Kernel(**{"path": "k.py", "name": "kernel", "line": 3, "accesses": list(accesses), **kw})


#: A kernel whose load is strided, and one without a finding.
STRIDED = """\
import triton
import triton.language as tl


@triton.jit
def column_sum(x_ptr, out_ptr, n_rows, n_cols, BLOCK: tl.constexpr):
    col = tl.program_id(0)
    rows = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + rows * n_cols + col, mask=rows < n_rows, other=0.0)
    tl.store(out_ptr + col, tl.sum(x, axis=0))
"""
CLEAN = STRIDED.replace("rows * n_cols + col", "col * n_rows + rows").replace("column_sum", "row_sum")
