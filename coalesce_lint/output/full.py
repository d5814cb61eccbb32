"""Findings with their source, as a compiler shows them: the lanes, the offset, the access underlined."""

from __future__ import annotations

from coalesce_lint.access import Place
from coalesce_lint.check import Outcome
from coalesce_lint.findings import Finding
from coalesce_lint.output.text import Painter, printable, qualifiers

_COLOURS = {"error": "red", "warning": "yellow", "info": "cyan"}
_ROLES = {"lanes": "the lanes", "program": "the program's place", "offset": "the offset"}
#: Longer lines are cut.
_WIDTH = 160


def render(outcome: Outcome, colour: bool) -> str:
    paint = Painter(colour)
    return "".join(_finding(f, paint) + "\n" for f in outcome.findings)


def _finding(finding: Finding, paint: Painter) -> str:
    place = finding.place
    code = paint(finding.code, _COLOURS[finding.severity], bold=True)
    width = len(str(max([place.end_line, place.line, *(p.line for p, _ in finding.trail)])))
    lines = [
        f"{code}{qualifiers(finding)} {printable(finding.message)}",
        f"{' ' * width}--> {printable(place.path)}:{place.line}:{place.column + 1}",
    ]
    marks = [(p, _ROLES.get(role, role), "-") for p, role in finding.trail if p.path == place.path]
    marks.append((place, _what(finding), "^"))
    shown = 0
    for where, text, sign in marks:
        if where.line not in finding.lines:
            continue
        if shown and where.line > shown + 1:
            lines.append(f"{'.' * width}")
        if where.line != shown:
            lines.append(f"{where.line:>{width}} | {_cut(finding.lines[where.line])}")
        shown = where.line
        underline = _underline(where, finding.lines[where.line], sign)
        if underline:
            lines.append(
                f"{' ' * width} | {paint(f'{underline} {printable(text)}', _COLOURS[finding.severity])}"
            )
    lines += [
        f"{' ' * width} = {printable(f'{p.path}:{p.line}:{p.column + 1}: {message}')}"
        for p, message in finding.related
    ]
    return "\n".join(lines) + "\n"


def _what(finding: Finding) -> str:
    access = finding.access
    if access is None or access.lane_stride is None:
        return ""
    return f"multiplier {access.lane_stride} along axis {access.lane_axis}"


def _cut(line: str) -> str:
    text = printable(line.expandtabs(4))
    return text if len(text) <= _WIDTH else text[: _WIDTH - 3] + "..."


def _underline(place: Place, line: str, sign: str) -> str:
    """Signs below the part of the first line that ``place`` covers; empty where that is cut off."""
    end = place.end_column if place.end_line == place.line else len(line)
    before = len(printable(line[: place.column].expandtabs(4)))
    covered = len(printable(line[: max(end, place.column + 1)].expandtabs(4))) - before
    return " " * before + sign * max(covered, 1) if before + covered <= _WIDTH - 3 else ""
