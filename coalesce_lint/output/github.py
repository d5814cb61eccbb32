"""Workflow commands that GitHub shows as annotations of a pull request.

See "Workflow commands for GitHub Actions", setting a notice, warning or error message.
"""

from __future__ import annotations

from coalesce_lint.check import Outcome
from coalesce_lint.findings import Finding
from coalesce_lint.output.text import printable, qualifiers

_LEVELS = {"error": "error", "warning": "warning", "info": "notice"}


def render(outcome: Outcome, colour: bool) -> str:
    return "".join(_command(f) + "\n" for f in outcome.findings)


def _command(finding: Finding) -> str:
    place = finding.place
    properties = {
        "title": f"coalesce-lint {finding.code} {finding.name}",
        "file": place.path,
        "line": place.line,
        "col": place.column + 1,
        "endLine": max(place.end_line, place.line),
        "endColumn": place.end_column + 1,
    }
    said = ",".join(f"{k}={_property(str(v))}" for k, v in properties.items())
    # the text stands in the log, too, where annotations are not seen
    text = (
        f"{place.path}:{place.line}:{place.column + 1}: {finding.code}{qualifiers(finding)} {finding.message}"
    )
    return f"::{_LEVELS[finding.severity]} {said}::{_data(text)}"


def _data(text: str) -> str:
    return printable(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
