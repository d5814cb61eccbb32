"""Joins findings with what ``verify --json`` measured: the slowdown goes into the message, small ones can be
hidden."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coalesce_lint.findings import Finding


class EvidenceError(ValueError):
    """An evidence file that cannot be used; ``str()`` is one line."""


@dataclass(frozen=True)
class Measurement:
    """What one access cost: time over the time with stride 1, with its 95 % interval."""

    ratio: float
    low: float
    high: float
    device: str
    text: str | None  #: the line of source that was measured


class Evidence:
    """Measurements by place."""

    def __init__(self, measurements: dict[tuple[str, int, int], Measurement]) -> None:
        self._by_place = measurements

    @classmethod
    def read(cls, paths: list[Path]) -> Evidence:
        """Reads the documents of ``verify --json``. Raises EvidenceError."""
        found: dict[tuple[str, int, int], Measurement] = {}
        for path in paths:
            try:
                document = json.loads(path.read_text())
            except OSError as error:
                raise EvidenceError(f"{path}: {error.strerror or error}") from None
            except ValueError as error:
                raise EvidenceError(f"{path}: no JSON: {error}") from None
            if not isinstance(document, dict) or document.get("schema") != 1 or "results" not in document:
                raise EvidenceError(f"{path}: not written by 'coalesce-lint verify --json'")
            try:
                for result in document["results"]:
                    _add(found, result, str(document.get("device") or "the GPU"))
            except (KeyError, TypeError, ValueError, AttributeError):
                raise EvidenceError(f"{path}: not written by 'coalesce-lint verify --json'") from None
        return cls(found)

    def join(self, findings: list[Finding], min_slowdown: float | None) -> list[Finding]:
        """The findings with the measured slowdown in their messages, without those below ``min_slowdown``."""
        lines: dict[str, list[str]] = {}
        joined = []
        for finding in findings:
            place = finding.place
            measured = self._by_place.get((os.path.realpath(place.path), place.line, place.column))
            if measured is None or not _is_current(measured, place.path, place.line, lines):
                joined.append(finding)
            elif min_slowdown is None or measured.ratio >= min_slowdown:
                joined.append(replace(finding, message=f"{finding.message} ({_words(measured)})"))
        return joined


def _add(found: dict[tuple[str, int, int], Measurement], result: dict[str, Any], device: str) -> None:
    """Keeps the largest measured slowdown of each access on its own."""
    measured = result["measured"]
    if measured is None or result.get("together"):
        return
    key = (os.path.realpath(result["path"]), int(result["line"]), int(result["column"]))
    ratio, low, high = float(measured["ratio"]), float(measured["low"]), float(measured["high"])
    if key not in found or ratio > found[key].ratio:
        found[key] = Measurement(ratio, low, high, device, result.get("source"))


def _is_current(measured: Measurement, path: str, line: int, lines: dict[str, list[str]]) -> bool:
    """False where the line has changed since it was measured."""
    if measured.text is None:
        return True
    if path not in lines:
        try:
            lines[path] = Path(path).read_text(errors="replace").split("\n")
        except OSError:
            lines[path] = []
    return line <= len(lines[path]) and lines[path][line - 1].strip() == measured.text


def _words(measured: Measurement) -> str:
    if measured.low <= 1.05:
        return f"measured no slower on {measured.device}: {measured.ratio:.2f}x"
    return f"measured {measured.ratio:.1f}x slower on {measured.device}"
