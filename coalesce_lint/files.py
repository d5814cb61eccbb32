"""From paths to the texts that may hold kernels: walk, ignore, read, decode, filter before any parsing."""

from __future__ import annotations

import io
import os
import re
import stat
import sys
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pathspec

#: Folders that a walk does not enter. A path given on the command line is always taken.
SKIPPED_FOLDERS = frozenset(
    (
        *(
            ".git",
            ".hg",
            ".svn",
            ".venv",
            "venv",
            "build",
            "dist",
            "node_modules",
            "__pycache__",
            "site-packages",
        ),
        *(".tox", ".nox", ".eggs", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".coalesce_lint_cache"),
    )
)

#: Names of files that this process was given open.
_OPENED = re.compile(r"/dev/(stdin|fd/\d+)|/proc/self/fd/\d+")

_LAUNCH = re.compile(rb"\]\s*\(")

#: Larger files are not source code; reading stops here, so that an endless pipe cannot fill memory.
SIZE_LIMIT = 64 << 20


@dataclass(frozen=True)
class Problem:
    """A path that could not be read, with the reason. The run goes on and, if ``fatal``, ends with code 2."""

    path: str
    message: str
    fatal: bool = True


class DecodeError(ValueError):
    """Bytes that are no Python source text; ``line`` counts from 1."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.line = line


def walk(
    paths: Sequence[str], exclude: Sequence[str] = (), root: Path | None = None, force_exclude: bool = False
) -> Iterator[str | Problem]:
    """The Python files of ``paths`` in a stable order, each once.

    A file that is given is taken whatever its name; ``force_exclude`` lets ``exclude`` (patterns of
    .gitignore, relative to ``root``) hold for it too. Links to folders are followed where given, not inside
    a walk.
    """
    excludes = [Ignore.of(root or Path.cwd(), exclude)] if exclude else []
    seen: set[str] = set()
    for path in paths:
        try:
            mode = os.stat(path).st_mode
        except (OSError, ValueError) as error:
            yield Problem(path or "''", _reason(error))
            continue
        if stat.S_ISDIR(mode):
            found: Iterable[str | Problem] = _walk_folder(path, excludes)
        elif force_exclude and is_ignored(excludes, os.path.abspath(path), False):
            found = ()
        else:
            found = (path,)
        for item in found:
            key = os.path.abspath(item) if isinstance(item, str) else f"{item.path}\0"
            if key not in seen:
                seen.add(key)
                yield item


def _walk_folder(top: str, excludes: list[Ignore]) -> Iterator[str | Problem]:
    pending = [(top, _outer_ignores(Path(os.path.abspath(top))))]
    while pending:
        folder, inherited = pending.pop()
        here = os.path.abspath(folder)
        try:
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda e: e.name)
        except OSError as error:
            yield Problem(folder, _reason(error))
            continue
        ignores = inherited
        if any(e.name == ".gitignore" for e in listed):
            ignores = inherited + _gitignore(Path(here))
        folders = []
        for entry in listed:
            is_folder = entry.is_dir(follow_symlinks=False)
            dangling = not is_folder and _is_dangling(entry)
            if not (entry.name not in SKIPPED_FOLDERS if is_folder else dangling or _is_python(entry)):
                continue
            path = f"{here.rstrip('/')}/{entry.name}"
            if is_ignored(excludes, path, is_folder) or is_ignored(ignores, path, is_folder):
                continue
            shown = entry.name if folder == "." else os.path.join(folder, entry.name)
            if is_folder:
                folders.append((shown, ignores))
            elif dangling:
                yield Problem(shown, "not read: a link that leads nowhere", fatal=False)
            else:
                yield shown
        pending.extend(reversed(folders))


def _is_dangling(entry: os.DirEntry[str]) -> bool:
    """Whether ``entry`` is a link under the name of a Python file that leads nowhere.

    Emacs locks a file that it edits by such a link, ``.#name``; that one is nobody's source.
    """
    if not entry.name.endswith(".py") or entry.name.startswith(".#") or not entry.is_symlink():
        return False
    try:
        entry.stat()
    except OSError:
        return True
    return False


def _is_python(entry: os.DirEntry[str]) -> bool:
    """Whether ``entry`` leads to a regular *.py file; False for a broken link, a link to itself, a pipe."""
    try:
        return entry.name.endswith(".py") and entry.is_file()
    except OSError:
        return False


@dataclass(frozen=True)
class Ignore:
    """Patterns of a .gitignore and the folder that they are relative to."""

    folder: Path
    spec: pathspec.GitIgnoreSpec

    @classmethod
    def of(cls, folder: Path, lines: Iterable[str]) -> Ignore:
        """From the lines of a .gitignore; a line that is no pattern is left out, as git does."""
        import pathspec

        good = []
        for line in lines:
            try:
                pathspec.GitIgnoreSpec.from_lines([line])
            except ValueError:
                continue
            good.append(line)
        return cls(folder, pathspec.GitIgnoreSpec.from_lines(good))


def _gitignore(folder: Path, name: str = ".gitignore") -> list[Ignore]:
    try:
        lines = (folder / name).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    wanted = [line for line in lines if line.strip() and not line.startswith("#")]
    return [Ignore.of(folder, wanted)] if wanted else []


def _outer_ignores(top: Path) -> list[Ignore]:
    """The ignores above ``top`` that hold for it: those of its git repository, the outermost first."""
    parents = list(top.parents)
    root = next((i for i, p in enumerate([top, *parents]) if os.path.exists(p / ".git")), None)
    if root is None:
        return []
    chain = [top, *parents][: root + 1]
    result = [Ignore(chain[-1], i.spec) for i in _gitignore(chain[-1] / ".git" / "info", "exclude")]
    for parent in reversed(chain[1:]):
        result += _gitignore(parent)
    return result


def is_ignored(ignores: Sequence[Ignore], path: str, is_folder: bool) -> bool:
    """Whether the innermost .gitignore that says anything about ``path`` (absolute) ignores it."""
    for ignore in reversed(ignores):
        folder = str(ignore.folder)
        if path.startswith(folder.rstrip("/") + "/"):
            relative = path[len(folder.rstrip("/")) + 1 :] + ("/" if is_folder else "")
            verdict = ignore.spec.check_file(relative).include
            if verdict is not None:
                return verdict
    return False


def read_bytes(path: str) -> bytes | Problem:
    """The bytes of ``path``, or why they cannot be had.

    A pipe or a device is not opened, since it may never end; but what the shell has opened for us is read
    (``/dev/stdin``, and ``/dev/fd/63`` of ``<(command)``).
    """
    try:
        kind = os.stat(path).st_mode
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind) or _OPENED.fullmatch(path)):
            return Problem(path, "not a regular file; '-' reads standard input")
        with open(path, "rb") as file:
            return _limited(path, file.read(SIZE_LIMIT + 1))
    except (OSError, ValueError) as error:
        return Problem(path, _reason(error))


def read_stdin(name: str = "<stdin>") -> bytes | Problem:
    """The bytes of standard input, or why they cannot be had."""
    if sys.stdin is None:
        return Problem(name, "standard input is closed")
    try:
        return _limited(name, sys.stdin.buffer.read(SIZE_LIMIT + 1))
    except (OSError, ValueError) as error:
        return Problem(name, _reason(error))


def _limited(path: str, data: bytes) -> bytes | Problem:
    return Problem(path, f"larger than {SIZE_LIMIT >> 20} MiB") if len(data) > SIZE_LIMIT else data


def may_hold_kernel(data: bytes) -> bool:
    """Whether a file of these bytes can hold a kernel: it mentions jit, and Triton under one of its names."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        data = data.replace(b"\0", b"")
    return b"jit" in data and any(word in data for word in (b"triton", b"gluon", b"tl."))


def may_launch(data: bytes) -> bool:
    """Whether a file of these bytes can launch a kernel: somewhere a subscript is called."""
    return _LAUNCH.search(data) is not None


def decode(data: bytes) -> str:
    """The text of Python source, with ``\\n`` line ends. Raises DecodeError.

    The encoding is found as Python does: byte order mark, then the cookie of PEP 263, then UTF-8.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise DecodeError("UTF-16 text; Python source must be UTF-8 or name its encoding")
    if b"\0" in data:
        raise DecodeError(
            "not a text file: it contains a null byte", data[: data.index(b"\0")].count(b"\n") + 1
        )
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        # error.object may lack the byte order mark; it has the same lines all the same
        line = error.object[: error.start].count(b"\n") + 1
        raise DecodeError(
            f"not valid {error.encoding}: byte 0x{error.object[error.start]:02x}", line
        ) from None
    except (SyntaxError, LookupError, ValueError) as error:
        first, *_ = str(error).splitlines() or [""]
        raise DecodeError(first or "the encoding cannot be used") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def roots(paths: Sequence[str]) -> list[Path]:
    """The folders in which imports of ``paths`` may be found: those given and the projects around them."""
    found: dict[Path, None] = {}
    for text in paths:
        path = Path(os.path.abspath(text))
        folder = path if os.path.isdir(path) else path.parent
        found.setdefault(folder)
        for parent in [folder, *folder.parents]:
            if os.path.isfile(parent / "pyproject.toml") or os.path.exists(parent / ".git"):
                found.setdefault(parent)
                break
    return list(found)


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file or folder"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[0].lower() + error.strerror[1:]
    return str(error)
