"""``# noqa`` comments, with the meaning that flake8 gives them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from coalesce_lint.findings import Finding

#: As flake8 has it: a bare comment is for everything; codes may follow, parted by commas or blanks.
NOQA = re.compile(r"# noqa(?::[\s]?(?P<codes>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*))?", re.IGNORECASE)


def is_suppressed(finding: Finding, lines: Sequence[str]) -> bool:
    """Whether a ``# noqa`` on a line of the finding's place covers it; ``lines`` is the file's text."""
    first = finding.place.line
    last = max(first, finding.place.end_line)
    return any(_covers(line, finding.code) for line in lines[max(first - 1, 0) : last])


def _covers(line: str, code: str) -> bool:
    if "noqa" not in line.lower():
        return False
    match = NOQA.search(line)
    if match is None:
        return False
    if match["codes"] is None:
        return True
    return code.startswith(tuple(re.split(r"[,\s]+", match["codes"].upper())))
