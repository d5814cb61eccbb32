"""Writes ``# noqa`` comments for findings into their files."""

from __future__ import annotations

import ast
import contextlib
import io
import os
import tempfile
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from coalesce_lint import files
from coalesce_lint.check import number_of
from coalesce_lint.findings import Finding
from coalesce_lint.suppress import NOQA, noqa_codes
from coalesce_lint.syntax import parse


@dataclass
class Outcome:
    """How many findings were silenced, and why the others were not."""

    added: int = 0
    changed: int = 0  #: files
    problems: list[files.Problem] = field(default_factory=list)


def add_noqa(findings: Iterable[Finding]) -> Outcome:
    """Adds the codes of ``findings`` to the ends of their first lines, or of the last lines of their calls.

    Nothing but comments changes: a line on which there can be no comment (a backslash at its end, a string
    that goes on) is left alone, and a file whose syntax tree would become another is not written.
    """
    outcome = Outcome()
    by_path: dict[str, list[Finding]] = {}
    for finding in findings:
        by_path.setdefault(finding.place.path, []).append(finding)
    for path, group in by_path.items():
        problem = _add_to_file(path, group, outcome)
        if problem is not None:
            outcome.problems.append(files.Problem(path, problem))
    return outcome


def _add_to_file(path: str, findings: Sequence[Finding], outcome: Outcome) -> str | None:
    """Changes one file; tells what was not done."""
    data = files.read_bytes(path)
    if isinstance(data, files.Problem):
        return data.message
    try:
        files.decode(data)
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        old = data.decode(encoding)
        before = ast.dump(parse(old))
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return "no comments added: not Python"
    lines = old.splitlines(keepends=True) if "\f" not in old and "\v" not in old else None
    if lines is None or len(lines) < old.count("\n"):
        return "no comments added: odd line ends"
    left = 0
    for finding in findings:
        for number in dict.fromkeys((finding.place.line, max(finding.place.end_line, finding.place.line))):
            tried = _with_code(lines, number, finding.code)
            if tried is not None and _same(before, tried):
                lines = tried
                outcome.added += 1
                break
        else:
            left += 1
    new = "".join(lines)
    if new != old:
        try:
            _replace(path, new.encode(encoding))
        except (OSError, UnicodeEncodeError) as error:
            return f"no comments added: {error}"
        outcome.changed += 1
    return f"{number_of(left, 'finding')} on lines that can have no comment" if left else None


def _with_code(lines: list[str], number: int, code: str) -> list[str] | None:
    """``lines`` with ``code`` among the codes of line ``number``; None where it cannot be put there."""
    if not 0 < number <= len(lines):
        return None
    line = lines[number - 1]
    text = line.rstrip("\r\n")
    end = line[len(text) :]
    codes = noqa_codes(text)
    match = NOQA.search(text)
    if codes and match is not None:
        text = f"{text[: match.end()]},{code}{text[match.end() :]}" if code not in codes else text
    elif codes is None:
        text = f"{text.rstrip()}  # noqa: {code}"
    return [*lines[: number - 1], text + end, *lines[number:]]


def _same(before: str, lines: list[str]) -> bool:
    try:
        return ast.dump(parse("".join(lines))) == before
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _replace(path: str, data: bytes) -> None:
    """Writes ``path`` at once or not at all; a link stays a link, permissions stay."""
    target = os.path.realpath(path)
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".coalesce-lint-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, os.stat(target).st_mode)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
