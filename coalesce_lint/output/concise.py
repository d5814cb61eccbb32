"""One line a finding: ``path:line:col: CODE message``, as flake8 prints it. Columns count from 1.

A severity other than warning and a confidence other than proved stand behind the code: ``CL105 [info] ...``.
"""

from __future__ import annotations

from coalesce_lint.check import Outcome
from coalesce_lint.findings import Finding
from coalesce_lint.output.text import Painter, printable, qualifiers


def render(outcome: Outcome, colour: bool) -> str:
    paint = Painter(colour)
    return "".join(_line(f, paint) + "\n" for f in outcome.findings)


def _line(finding: Finding, paint: Painter) -> str:
    place = finding.place
    code = paint(finding.code, "red" if finding.severity == "error" else "yellow", bold=True)
    where = f"{printable(place.path)}:{place.line}:{place.column + 1}:"
    return f"{where} {code}{qualifiers(finding)} {printable(finding.message)}"
