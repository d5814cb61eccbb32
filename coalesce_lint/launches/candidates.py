"""Which host files can launch a kernel of the checked files: told from their text, before they are parsed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from coalesce_lint import files

#: What ends the subscript of a launch and begins its arguments.
LAUNCH = re.compile(r"\]\s*\(")
_WORD = re.compile(rb"[A-Za-z_]\w*")
_MAKERS = rb"(?:jit|heuristics|autotune)"
#: A function that a decorator of such a name makes a kernel; further decorators and comments stand between.
_DECORATED = re.compile(
    rb"^[ \t]*@[\w.]*" + _MAKERS + rb"\b.*?^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)", re.MULTILINE | re.DOTALL
)
#: A name that is assigned what such a function makes.
_MADE = re.compile(
    rb"^[ \t]*(?:\w+\.)*(\w+)[ \t]*=[ \t]*(?:triton\.|gluon\.)?" + _MAKERS + rb"\s*\(", re.MULTILINE
)
#: A file with a kernel of its own: most of them launch it.
_HOLDS = re.compile(rb"^[ \t]*@[\w.]*jit\b", re.MULTILINE)
_IMPORT = re.compile(rb"\bimport\s+(?:\([^)]*\)|[^\n]*)")


def kernel_names(sources: Iterable[bytes]) -> frozenset[str]:
    """The names under which ``sources`` (contents of files) define kernels, and perhaps others."""
    found: set[bytes] = set()
    for data in sources:
        found.update(_DECORATED.findall(data))
        found.update(_MADE.findall(data))
    return frozenset(name.decode("utf-8", "replace") for name in found)


def may_launch_one_of(data: bytes, names: frozenset[str]) -> bool:
    """Whether a call with a subscript in ``data`` (the content of a file) may launch a kernel with one of
    ``names``.

    That takes the name of a kernel, before a subscript or as a value: imported, assigned, returned, an
    argument. A name that is only called is that of a function of the host.
    """
    if not files.may_launch(data):
        return False
    if _HOLDS.search(data) is not None or not all(map(str.isascii, names)):
        return True
    there = {name.encode() for name in names}.intersection(_WORD.findall(data))
    if not there:
        return False
    either = b"|".join(there)
    used = rb"\b(?:%b)\s*\[|(?:[.=(,]\s*|\breturn\s+)(?:%b)\b(?![ \t]*[(.=\[\w])" % (either, either)
    if re.search(used, data):
        return True
    word = re.compile(rb"\b(?:%b)\b" % either)
    return any(word.search(m[0]) for m in _IMPORT.finditer(data))


def lines_of(pattern: re.Pattern[str], text: str) -> list[int]:
    """The numbers of the lines in which ``pattern`` is found, once for each time."""
    out = []
    line, at = 1, 0
    for m in pattern.finditer(text):
        line += text.count("\n", at, m.start())
        at = m.start()
        out.append(line)
    return out
