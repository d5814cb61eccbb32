"""Known findings: written to a file once, left out of later runs.

A finding is known by its file, its kernel, its rule and what it is about (the operation, the pointer and the
normalized offset), never by its line: a kernel that only moves stays known, an offset that changes is new. A
file that names an identity twice knows two such findings.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coalesce_lint.findings import Finding

SCHEMA = 1

#: Names of values that have none: their numbers depend on lines and on the order in which they are shown.
_NUMBERED = re.compile(r"\b(turn|value|loaded|npid)\d+\b")

_Key = tuple[str, str, str, str]


class BaselineError(ValueError):
    """A baseline file that cannot be used. ``str()`` of it is one line."""


def identity(finding: Finding) -> tuple[str, str, str]:
    """Kernel, code and normalized expression of a finding: what stays the same when it moves."""
    access = finding.access
    if access is None:
        # the message, without what it says of places
        about = re.sub(r"\b(lines?|column) \d+\b|:\d+\b", r"\1", finding.message)
    else:
        offset = _NUMBERED.sub(r"\1", access.offset)
        about = f"{access.op} {access.pointer}[{offset}]"
    return (finding.kernel or "", finding.code, about)


def _key(finding: Finding, folder: Path) -> _Key:
    where = os.path.relpath(os.path.abspath(finding.place.path), folder).replace(os.sep, "/")
    return (where, *identity(finding))


def write(path: Path, findings: Sequence[Finding]) -> None:
    """Writes all ``findings`` to ``path`` as known. Raises BaselineError where that fails."""
    folder = path.absolute().parent
    counts = Counter(_key(f, folder) for f in findings)
    document = {
        "schema": SCHEMA,
        "findings": [
            {"path": p, "kernel": kernel, "code": code, "expression": expression, "count": number}
            for (p, kernel, code, expression), number in sorted(counts.items())
        ],
    }
    try:
        path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise BaselineError(f"{path}: cannot be written: {error.strerror or error}") from None


def read(path: Path) -> Counter[_Key]:
    """How many findings of each identity are known. Raises BaselineError for a file that is no baseline."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["schema"] != SCHEMA:
            raise BaselineError(f"{path}: a baseline of schema {document['schema']}, not {SCHEMA}")
        known: Counter[_Key] = Counter()
        for entry in document["findings"]:
            known[_entry(entry)] += int(entry["count"])
        return known
    except OSError as error:
        raise BaselineError(f"{path}: {error.strerror or error}") from None
    except BaselineError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BaselineError(f"{path}: not a baseline; '--write-baseline {path}' makes one") from None


def _entry(entry: dict[str, Any]) -> _Key:
    path, kernel, code, expression = (str(entry[k]) for k in ("path", "kernel", "code", "expression"))
    return (path, kernel, code, expression)


def new_findings(findings: Sequence[Finding], path: Path) -> list[Finding]:
    """The findings that the baseline in ``path`` does not know. Raises BaselineError."""
    known = read(path)
    folder = path.absolute().parent
    new = []
    for finding in findings:
        key = _key(finding, folder)
        if known[key] > 0:
            known[key] -= 1
        else:
            new.append(finding)
    return new
