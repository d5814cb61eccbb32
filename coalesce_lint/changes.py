"""What changed since a git revision: the lines of each file, asked of git itself."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field

#: A diff that is the same whatever the user's settings are.
_PLAIN = (
    *("--unified=0", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames"),
    *("--src-prefix=a/", "--dst-prefix=b/"),
)
_HUNK = re.compile(rb"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")


class ChangesError(ValueError):
    """git cannot say what changed. ``str()`` of it is one line."""


@dataclass
class Changes:
    """Changed lines by absolute path. A new file is changed as a whole."""

    ranges: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    new: set[str] = field(default_factory=set)

    def touch(self, path: str, first: int, last: int) -> bool:
        """Whether a line from ``first`` to ``last`` of ``path`` changed, or one between them went away."""
        where = os.path.realpath(path)
        if where in self.new:
            return True
        return any(begin <= last and first <= end for begin, end in self.ranges.get(where, ()))


def since(revision: str, folders: Iterable[str]) -> Changes:
    """The changes of the working trees around ``folders`` since ``revision``. Raises ChangesError."""
    changes = Changes()
    for root in dict.fromkeys(_root(f) for f in folders):
        _git(root, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
        diff = _git(root, "diff", *_PLAIN, "--end-of-options", revision, "--")
        _add_diff(changes, root, diff)
        listed = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
        changes.new |= {_path(root, name) for name in listed.split(b"\0") if name}
    return changes


def _add_diff(changes: Changes, root: str, diff: bytes) -> None:
    current: list[tuple[int, int]] = []
    header = False  # a line of code may look like a line of the header
    for line in diff.split(b"\n"):
        if line.startswith(b"diff --git "):
            header = True
        elif header and line.startswith(b"+++ "):
            current = []
            if line != b"+++ /dev/null":
                changes.ranges.setdefault(_path(root, _unquoted(line[4:])[2:]), current)
        elif match := _HUNK.match(line):
            header = False
            first, count = int(match[1]), int(match[2] or 1)
            # lines that were only taken out stood between this line and the next
            current.append((first, first + count - 1) if count else (first, first + 1))


def _unquoted(name: bytes) -> bytes:
    """A path of git's output: in quotes with C's escapes where it has odd characters."""
    name = name.rstrip(b"\t")
    if not name.startswith(b'"'):
        return name
    return re.sub(rb"\\([0-7]{3}|.)", lambda m: _unescaped(m[1]), name[1:-1])


def _unescaped(code: bytes) -> bytes:
    if len(code) == 3:
        return bytes([int(code, 8)])
    return {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}.get(
        code, code
    )


def _path(root: str, name: bytes) -> str:
    return os.path.realpath(os.path.join(root, os.fsdecode(name)))


def _root(folder: str) -> str:
    return os.fsdecode(_git(folder, "rev-parse", "--show-toplevel").removesuffix(b"\n"))


def _git(folder: str, *args: str) -> bytes:
    command = ["git", "-C", folder, *args]
    try:
        told = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    except OSError as error:
        raise ChangesError(f"--diff: git cannot be run: {error.strerror or error}") from None
    if told.returncode:
        first, *_ = os.fsdecode(told.stderr).splitlines() or ["no reason given"]
        raise ChangesError(f"--diff: git in {folder}: {first}")
    return told.stdout
