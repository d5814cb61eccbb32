"""Errors nobody foresaw: how they are told, and where they are not caught."""

from __future__ import annotations

import os


def describe(error: BaseException) -> str:
    """``error`` on one line."""
    first, *_ = str(error).splitlines() or [""]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def debugging() -> bool:
    """Whether tracebacks are wanted: COALESCE_LINT_DEBUG is set."""
    return bool(os.environ.get("COALESCE_LINT_DEBUG"))
