"""The files that an analysis looks at beside the one it is about: helpers, and where they might have been.

Whoever follows an import asks for files here. While a ``recording`` is on, each answer is noted, so that the
result cache can tell later whether the same question would still be answered the same.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

#: Answers: whether there is such a file, or anything of that name; else the digest of the content.
_FILE, _NO_FILE, _EXISTS, _NOTHING, _UNREADABLE = "file", "no file", "exists", "nothing", "unreadable"
#: Answers that say nothing of a content.
SHORT_ANSWERS = frozenset((_FILE, _NO_FILE, _EXISTS, _NOTHING))

_recordings: list[dict[str, str]] = []


def digest(data: bytes) -> str:
    """The digest of a content: 128 bits of BLAKE2b in hexadecimal digits."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


@contextmanager
def recording() -> Iterator[dict[str, str]]:
    """Collects the answers that are given in its block, by absolute path."""
    noted: dict[str, str] = {}
    _recordings.append(noted)
    try:
        yield noted
    finally:
        _recordings[:] = [r for r in _recordings if r is not noted]  # others may hold the same


def note(path: str, data: bytes | None) -> None:
    """Notes that ``path`` was read, with its content; None where it could not be read."""
    if _recordings:
        _note(path, _UNREADABLE if data is None else digest(data))


def is_file(path: str) -> bool:
    """``os.path.isfile(path)``."""
    found = os.path.isfile(path)
    if _recordings:
        _note(path, _FILE if found else _NO_FILE)
    return found


def exists(path: str) -> bool:
    """``os.path.exists(path)``."""
    found = os.path.exists(path)
    if _recordings:
        _note(path, _EXISTS if found else _NOTHING)
    return found


def read_text(path: str) -> str:
    """The text of a UTF-8 file with ``\\n`` line ends. Raises OSError, ValueError."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        note(path, None)
        raise
    note(path, data)
    return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


def _note(path: str, answer: str) -> None:
    key = os.path.abspath(path)
    for noted in _recordings:
        if noted.get(key, _FILE) == _FILE:  # a content says more than that there is a file
            noted[key] = answer


def add(answers: Mapping[str, str]) -> None:
    """Notes what another process was answered."""
    for path, answer in answers.items():
        _note(path, answer)


def answer_now(path: str, answer: str) -> str:
    """What would be answered today where ``answer`` was given."""
    if answer in (_EXISTS, _NOTHING):
        return _EXISTS if os.path.exists(path) else _NOTHING
    if not os.path.isfile(path):
        return _NO_FILE
    if answer in (_FILE, _NO_FILE):
        return _FILE
    try:
        with open(path, "rb") as file:
            return digest(file.read())
    except OSError:
        return _UNREADABLE
