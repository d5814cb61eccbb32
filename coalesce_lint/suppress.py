"""Comments that silence findings: ``# noqa`` as flake8 has it, and ``# coalesce-lint: off``."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from coalesce_lint.access import Kernel, Place
from coalesce_lint.findings import Finding
from coalesce_lint.syntax import parse
from coalesce_lint.trail import Source

#: As flake8 has it: a bare comment is for everything; codes may follow, parted by commas or blanks.
NOQA = re.compile(r"# noqa(?::[\s]?(?P<codes>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*))?", re.IGNORECASE)
#: For a kernel on the lines of its ``def``, for a file on a line of its own; a reason may follow.
OFF = re.compile(r"#\s*coalesce-lint:\s*off\b", re.IGNORECASE)
_OURS = re.compile(r"CL\d*")

#: A comment: absolute path, line, and the entry of it ("CL101", "off").
Key = tuple[str, int, str]


def noqa_codes(line: str) -> list[str] | None:
    """The codes that a ``# noqa`` on ``line`` lists, [] for a bare one, None without such a comment."""
    match = NOQA.search(line) if "noqa" in line.lower() else None
    if match is None:
        return None
    return re.split(r"[,\s]+", match["codes"].upper()) if match["codes"] else []


@dataclass
class Suppressions:
    """The comments of one file. ``used`` collects those that silenced something."""

    path: str
    lines: Sequence[str]
    used: set[Key] = field(default_factory=set)

    def covers(self, finding: Finding, noqa: bool = True) -> bool:
        """Whether a comment silences ``finding``: at its call, at its offset, for its kernel or its file.

        Without ``noqa`` only those for kernels and files count.
        """
        place = finding.place
        if noqa and self._noqa(self._joined(place.line, place.end_line), finding.code):
            return True
        if self._off(place.line):
            return True
        return noqa and self._mentions_noqa and self._noqa(self._source.offset_lines(place), finding.code)

    def _joined(self, first: int, last: int) -> range:
        """The lines of a call, with those that backslashes join to them: no comment fits on the former."""
        last = max(first, last)
        while first > 1 and self._goes_on(first - 1):
            first -= 1
        while self._goes_on(last):
            last += 1
        return range(first, last + 1)

    def _goes_on(self, number: int) -> bool:
        return 0 < number <= len(self.lines) and self.lines[number - 1].endswith("\\")

    def covers_comment(self, finding: Finding) -> bool:
        """Whether a finding about a comment is silenced: by that comment itself."""
        return self._noqa([finding.place.line], finding.code)

    def covers_kernel(self, kernel: Kernel, of_use: bool = False) -> bool:
        """Whether ``kernel`` as a whole is off, with what its helpers access for it.

        ``of_use`` says that something was found there.
        """
        return kernel.path == self.path and self._off(kernel.line, of_use)

    def unused(
        self, codes: Iterable[str], known: Iterable[str], usual: Iterable[str]
    ) -> Iterator[tuple[Key, Place, str]]:
        """The comments that could silence a rule of ``codes``, with their place and what they say.

        ``known`` are the codes of all rules, ``usual`` those of the default set. Bare comments may be meant
        for others and are left out. Whether a comment was of use is told by ``used``, of the whole run.
        """
        running, existing = list(codes), list(known)
        judges_off = set(usual) <= set(running)
        for number, line in enumerate(self.lines, 1):
            for entry in noqa_codes(line) or ():
                matching = [c for c in existing if c.startswith(entry)]
                if _OURS.fullmatch(entry) and (not matching or set(matching) <= set(running)):
                    yield self._key(number, entry), self._place(number, NOQA), f"noqa: {entry}"
            if judges_off and OFF.search(line):
                yield self._key(number, "off"), self._place(number, OFF), "coalesce-lint: off"

    def _place(self, number: int, pattern: re.Pattern[str]) -> Place:
        match = pattern.search(self.lines[number - 1])
        first, last = match.span() if match else (0, 0)
        return Place(self.path, number, first, number, last)

    def _key(self, line: int, entry: str) -> Key:
        return (os.path.abspath(self.path), line, entry)

    def _noqa(self, numbers: Iterable[int], code: str) -> bool:
        for number in numbers:
            if not 0 < number <= len(self.lines):
                continue
            codes = noqa_codes(self.lines[number - 1])
            if codes == []:
                return True
            entry = next((c for c in codes or () if code.startswith(c)), None)
            if entry is not None:
                self.used.add(self._key(number, entry))
                return True
        return False

    def _off(self, line: int, of_use: bool = True) -> bool:
        """Whether ``line`` is within what an ``off`` comment turns off."""
        for number, first, last in self._turned_off:
            if first <= line <= last:
                if of_use:
                    self.used.add(self._key(number, "off"))
                return True
        return False

    @cached_property
    def _turned_off(self) -> list[tuple[int, int, int]]:
        """The line of each ``off`` comment, the first and the last line that it is for."""
        comments = [number for number, line in enumerate(self.lines, 1) if OFF.search(line)]
        if not comments:
            return []
        found = []
        heads = list(self._functions())
        for number in comments:
            inner = [(last - first, first, last) for first, body, last in heads if first <= number < body]
            if inner:
                found.append((number, *min(inner)[1:]))
            elif OFF.match(self.lines[number - 1]):
                found.append((number, 1, len(self.lines)))
        return found

    def _functions(self) -> Iterator[tuple[int, int, int]]:
        """First line, first line of the body, and last line of each function."""
        try:
            tree = parse("\n".join(self.lines))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                body = max(node.body[0].lineno, node.lineno + 1)
                yield first, body, node.end_lineno or body

    @cached_property
    def _mentions_noqa(self) -> bool:
        return any("noqa" in line.lower() for line in self.lines)

    @cached_property
    def _source(self) -> Source:
        return Source(self.path, self.lines)
