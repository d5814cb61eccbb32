"""Standard output and standard error as the command line uses them; either may be closed, full or a pipe."""

from __future__ import annotations

import contextlib
import os
import sys


class OutputError(Exception):
    """Standard output cannot be written to. ``str()`` of it is one line."""


def prepare() -> None:
    """Lets both streams print any text, whatever the terminal's encoding."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def has_colour() -> bool:
    """Colour goes to a terminal only, and not where NO_COLOR asks for none."""
    if sys.stdout is None or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


def write(text: str) -> None:
    """Prints ``text`` on standard output. Raises OutputError, BrokenPipeError where the reader has left."""
    if not text:
        return
    if sys.stdout is None:
        raise OutputError("standard output is closed")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _silence_stdout()
        raise OutputError(f"standard output cannot be written to: {error.strerror or error}") from None


def complain(text: str) -> None:
    """Prints ``coalesce-lint: text`` on standard error, where there is one."""
    from coalesce_lint.output.text import printable

    if sys.stderr is None:
        return
    try:
        sys.stderr.write(f"coalesce-lint: {printable(text)}\n")
        sys.stderr.flush()
    except OSError:
        pass  # nobody can be told


def complain_lines(text: str) -> None:
    """Prints ``text``, which may be several lines, on standard error, where there is one."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            sys.stderr.write(text)
            sys.stderr.flush()


def _silence_stdout() -> None:
    """Nothing more may be written, not even by the interpreter's last flush."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def reader_has_left() -> None:
    """To be called after a BrokenPipeError (``| head``): the rest of the output goes nowhere."""
    _silence_stdout()
