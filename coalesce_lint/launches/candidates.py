"""Which host files can launch a kernel of the checked files: told from their text, before they are parsed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

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
_IN_WORD = re.compile(rb"\w")
_SUBSCRIPT = re.compile(rb"\s*\[")
#: What stands before a value (within so many bytes), and what follows a name that is none.
_VALUE_AFTER = re.compile(rb"(?:[.=(,]|\breturn\s)\s*\Z")
_NEAR = 200
_NO_VALUE = re.compile(rb"[ \t]*(?!(?:if|or|and|else)\b)[(.=\[\w]")
#: Names in parentheses, comments between them may hold such too; or on one line that may be continued.
_IMPORT = re.compile(rb"\bimport\s+(?:\((?:[^)#]|#[^\n]*\n)*\)|(?:\\\r?\n|[^\n])*)")


def kernel_names(sources: Iterable[bytes]) -> frozenset[str]:
    """The names under which ``sources`` (contents of files) define kernels, and perhaps others."""
    found: set[bytes] = set()
    for data in sources:
        found.update(_DECORATED.findall(data))
        found.update(_MADE.findall(data))
    return frozenset(name.decode("utf-8", "replace") for name in found)


def may_launch_one_of(names: frozenset[str]) -> Callable[[bytes], bool]:
    """A test of the content of a file in which a subscript is called: whether that may launch a kernel with
    one of ``names``.

    That takes the name of a kernel, before a subscript or as a value: imported, assigned, returned, an
    argument. A name that is only called is that of a function of the host.
    """
    known = frozenset(name.encode() for name in names)
    plain = all(map(bytes.isascii, known))

    def may(data: bytes) -> bool:
        if not plain or (b"jit" in data and _HOLDS.search(data) is not None):
            return True
        there = known.intersection(_WORD.findall(data))
        if not there:
            return False
        if any(_is_used(name, data) for name in there):
            return True
        return any(there.intersection(_WORD.findall(m[0])) for m in _IMPORT.finditer(data))

    return may


def _is_used(name: bytes, data: bytes) -> bool:
    """Whether ``name`` stands before a subscript or as a value. One regular expression for all names and all
    of this would take several times as long.
    """
    end = 0
    while (at := data.find(name, end)) >= 0:
        end = at + len(name)
        if _IN_WORD.match(data, end) or (at and _IN_WORD.match(data, at - 1)):
            continue
        if _SUBSCRIPT.match(data, end):
            return True
        if _VALUE_AFTER.search(data, max(0, at - _NEAR), at) and not _NO_VALUE.match(data, end):
            return True
    return False


def lines_of(pattern: re.Pattern[str], text: str) -> list[int]:
    """The numbers of the lines in which ``pattern`` is found, once for each time."""
    out = []
    line, at = 1, 0
    for m in pattern.finditer(text):
        line += text.count("\n", at, m.start())
        at = m.start()
        out.append(line)
    return out
