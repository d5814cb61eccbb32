"""Pages of rules, from the docstrings of their modules: for the terminal, for programs, for ``docs/rules``.

``python -m coalesce_lint.rule_pages FOLDER`` writes the pages of our own rules as Markdown; a test holds
those of the repository to what it would write.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coalesce_lint.discovery import origin
from coalesce_lint.findings import Rule, all_rules

_AREAS = {
    "CL1": "Access patterns",
    "CL2": "Layout and launch",
    "CL3": "What the compiler cannot prove",
    "CL4": "Block pointers and descriptors",
    "CL5": "Index arithmetic",
    "CL6": "Shared memory",
    "CL9": "The tool itself",
}
_COMMAND = "python -m coalesce_lint.rule_pages docs/rules"
_HEAD = ("| code | name | what | severity | default |", "|---|---|---|---|---|")


def line(rule: Rule) -> str:
    """A rule in a list."""
    state = "on" if rule.default else "off"
    return f"{rule.code}  {rule.name:<20} {rule.severity:<8} {state:<4} {rule.summary}"


def text(rule: Rule) -> str:
    """A rule's page for the terminal."""
    return f"# {rule.code} {rule.name} ({rule.severity}, {_state(rule)})\n\n{rule.page().strip()}\n"


def record(rule: Rule) -> dict[str, Any]:
    """A rule for programs; ``package`` is None for our own."""
    page = rule.page().strip()
    return {
        "code": rule.code,
        "name": rule.name,
        "summary": rule.summary,
        "severity": rule.severity,
        "default": rule.default,
        "package": origin(rule.code),
        "page": page,
        "sections": _sections(page),
    }


def _sections(page: str) -> dict[str, str]:
    parts = re.split(r"^## (.+)$", page, flags=re.MULTILINE)
    return {heading.strip(): body.strip() for heading, body in zip(parts[1::2], parts[2::2], strict=True)}


def _state(rule: Rule) -> str:
    return "on by default" if rule.default else "off by default"


def markdown(rule: Rule) -> str:
    """A rule's page in ``docs/rules``."""
    return (
        f"# {rule.code}: {rule.name}\n\nSeverity {rule.severity}, {_state(rule)}."
        f"\n\n{rule.page().strip()}\n\n[All rules](README.md)\n"
    )


def index(rules: Sequence[Rule]) -> str:
    """The page that lists all rules."""
    parts = [f"# Rules\n\nWritten by `{_COMMAND}` from the modules in `rules/`.\n"]
    for prefix, area in _AREAS.items():
        rows = [_row(r) for r in rules if r.code.startswith(prefix)]
        if rows:
            parts.append("\n".join([f"## {area}\n", *_HEAD, *rows, ""]))
    return "\n".join(parts)


def _row(rule: Rule) -> str:
    state = "on" if rule.default else "off"
    return f"| [{rule.code}]({rule.code}.md) | {rule.name} | {rule.summary} | {rule.severity} | {state} |"


def pages() -> dict[str, str]:
    """All pages of ``docs/rules`` by file name."""
    own = [r for r in all_rules() if origin(r.code) is None]
    return {"README.md": index(own), **{f"{r.code}.md": markdown(r) for r in own}}


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 1:
        print("usage: python -m coalesce_lint.rule_pages FOLDER", file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    wanted = pages()
    for old in folder.glob("*.md"):
        if old.name not in wanted:
            old.unlink()
    for name, content in wanted.items():
        (folder / name).write_text(content, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
