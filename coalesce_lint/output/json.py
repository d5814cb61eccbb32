"""The JSON forms of ``check`` and ``explain``, a contract with other programs (README, "JSON")."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from coalesce_lint import __version__
from coalesce_lint.access import FileError, Kernel
from coalesce_lint.check import Outcome

SCHEMA = 1
TOOL = f"coalesce-lint {__version__}"


def render(outcome: Outcome, colour: bool) -> str:
    """The result of ``check``. ``errors`` are problems with whole files (exit code 2); their line is 0."""
    return _dump(
        {
            "schema": SCHEMA,
            "tool": TOOL,
            "findings": [f.as_dict() for f in outcome.findings],
            "errors": [{"path": p.path, "line": 0, "message": p.message} for p in outcome.problems],
            "summary": {**vars(outcome.counts), "findings": len(outcome.findings)},
        }
    )


def render_kernels(kernels: Iterable[Kernel], errors: Iterable[FileError]) -> str:
    """The result of ``explain``."""
    return _dump(
        {
            "schema": SCHEMA,
            "tool": TOOL,
            "kernels": [k.as_dict() for k in kernels],
            "errors": [e.as_dict() for e in errors],
        }
    )


def _dump(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"
