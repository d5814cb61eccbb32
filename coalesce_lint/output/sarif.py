"""SARIF 2.1.0: the format of code scanning services. Columns count characters from 1."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import quote

from coalesce_lint import __version__
from coalesce_lint.access import Place
from coalesce_lint.baseline import identity
from coalesce_lint.check import Outcome
from coalesce_lint.findings import Finding, Rule, all_rules
from coalesce_lint.output.text import printable

_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_ROLES = {"lanes": "the lanes", "program": "the program's place", "offset": "the offset"}


def render(outcome: Outcome, colour: bool) -> str:
    used = sorted({f.code for f in outcome.findings})
    rules = {r.code: r for r in all_rules() if r.code in used}
    seen: Counter[tuple[str, ...]] = Counter()
    results = []
    for finding in outcome.findings:
        key = (finding.place.path, *identity(finding))
        seen[key] += 1
        results.append(_result(finding, used.index(finding.code), [*key[1:], str(seen[key])]))
    run = {
        "tool": {
            "driver": {
                "name": "coalesce-lint",
                "version": __version__,
                "rules": [_rule(rules[code]) for code in used],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"ROOT": {"uri": Path.cwd().as_uri() + "/"}},
        "invocations": [
            {
                "executionSuccessful": outcome.exit_code != 2,
                "toolExecutionNotifications": [
                    {
                        "level": "error" if p.fatal else "warning",
                        "message": {"text": printable(f"{p.path}: {p.message}")},
                    }
                    for p in outcome.problems
                ],
            }
        ],
        "results": results,
    }
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }
    return json.dumps(document, indent=2) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.page().strip().split("\n\n")[0].replace("\n", " ")},
        "help": {"text": rule.page().strip(), "markdown": rule.page().strip()},
        "defaultConfiguration": {"enabled": rule.default, "level": _LEVELS[rule.severity]},
    }


def _result(finding: Finding, index: int, fingerprint: list[str]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": printable(finding.message)},
        "locations": [_location(finding.place, kernel=finding.kernel)],
        "partialFingerprints": {"finding/v1": "\n".join(fingerprint)},
        "properties": {"confidence": finding.confidence, "severity": finding.severity},
    }
    related = [(p, _ROLES.get(role, role)) for p, role in finding.trail] + finding.related
    if related:
        result["relatedLocations"] = [
            {"id": k, **_location(place, message)} for k, (place, message) in enumerate(related, 1)
        ]
    if finding.trail:
        steps = [*related[: len(finding.trail)], (finding.place, finding.message)]
        locations = [{"location": _location(place, message)} for place, message in steps]
        result["codeFlows"] = [{"threadFlows": [{"locations": locations}]}]
    return result


def _location(place: Place, message: str = "", kernel: str | None = None) -> dict[str, Any]:
    region = {"startLine": max(place.line, 1), "startColumn": place.column + 1}
    if place.end_line > place.line or (place.end_line == place.line and place.end_column > place.column):
        region |= {"endLine": place.end_line, "endColumn": place.end_column + 1}
    location: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": _artifact(place.path), "region": region}
    }
    if message:
        location["message"] = {"text": printable(message)}
    if kernel:
        location["logicalLocations"] = [{"name": kernel, "kind": "function"}]
    return location


def _artifact(path: str) -> dict[str, str]:
    if os.path.isabs(path):
        return {"uri": "file://" + quote(os.fsencode(path))}
    return {"uri": quote(os.fsencode(path.removeprefix("./"))), "uriBaseId": "ROOT"}
