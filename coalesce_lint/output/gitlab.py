"""A code quality report of GitLab (the fields of "Code Quality report format")."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import Any

from coalesce_lint.baseline import identity
from coalesce_lint.check import Outcome
from coalesce_lint.findings import Finding
from coalesce_lint.output.text import qualifiers

_LEVELS = {"error": "major", "warning": "minor", "info": "info"}


def render(outcome: Outcome, colour: bool) -> str:
    seen: Counter[tuple[str, ...]] = Counter()
    issues = []
    for finding in outcome.findings:
        key = (finding.place.path, *identity(finding))
        seen[key] += 1
        issues.append(_issue(finding, key, seen[key]))
    return json.dumps(issues, indent=2) + "\n"


def _issue(finding: Finding, key: tuple[str, ...], number: int) -> dict[str, Any]:
    place = finding.place
    # the same for a finding that has only moved; the number tells equal ones apart
    fingerprint = hashlib.sha256(json.dumps([*key, number]).encode()).hexdigest()
    return {
        "check_name": finding.code,
        "description": f"{finding.code}{qualifiers(finding)} {finding.message}",
        "fingerprint": fingerprint,
        "severity": _LEVELS[finding.severity],
        "location": {
            "path": place.path.removeprefix("./"),
            "positions": {
                "begin": {"line": place.line, "column": place.column + 1},
                "end": {"line": max(place.end_line, place.line), "column": place.end_column + 1},
            },
        },
    }
