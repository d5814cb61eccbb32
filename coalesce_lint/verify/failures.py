"""Why a kernel did not compile, in one line with its place. Used within the worker, next to Triton."""

from __future__ import annotations

import gc
import os
import re
import tempfile
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")

#: What the passes of the compiler write to standard error: "k.py:12:4: error: ...", "error: ...".
_DIAGNOSTIC = re.compile(
    r"^(?:\"?(?P<file>[^\"\n:]+)\"?:(?P<line>\d+):\d+: )?error: (?P<text>.+)$", re.MULTILINE
)


class CompileFailure(RuntimeError):
    """The compiler refused a kernel. ``str()`` is the first line of what it says; ``place`` is (file, line)
    where the compiler names one."""

    def __init__(self, message: str, place: tuple[str, int] | None = None) -> None:
        super().__init__(message)
        self.place = place or ()


def compiling(function: Callable[[], Result]) -> Result:
    """The result of ``function``, which compiles a kernel. Raises CompileFailure with the compiler's first
    line."""
    with tempfile.TemporaryFile() as told:
        saved = os.dup(2)
        os.dup2(told.fileno(), 2)
        try:
            return function()
        except Exception as error:
            told.seek(0)
            raise failure(error, told.read().decode(errors="replace")) from None
        finally:
            os.dup2(saved, 2)
            os.close(saved)


def failure(error: BaseException, told: str) -> CompileFailure:
    """The failure behind an exception; ``told`` is what was written to standard error meanwhile."""
    chain = [error]
    while chain[-1].__cause__ is not None:
        chain.append(chain[-1].__cause__)
    places = [p for p in map(place_of, chain) if p is not None]
    message = next((m for m in map(message_of, reversed(chain)) if m), type(error).__name__)
    found = None if places else _DIAGNOSTIC.search(told)
    if found is not None:
        place = (found["file"], int(found["line"])) if found["line"] else None
        return CompileFailure(found["text"].strip(), place)
    return CompileFailure(message, places[-1] if places else None)


def message_of(error: BaseException) -> str:
    """The first line of an exception's own words, without the excerpt of source before it."""
    if hasattr(error, "error_message"):
        words = str(error.error_message or "")
        inner = re.fullmatch(r"(\w+)\((['\"])(.*)\2,?\)", words, re.DOTALL)  # the repr of another exception
        words = f"{inner[1]}: {inner[3]}" if inner else words
    else:
        words = str(error) or type(error).__name__
    return next((line.strip() for line in words.replace("\\n", "\n").splitlines() if line.strip()), "")


def place_of(error: BaseException) -> tuple[str, int] | None:
    """File and line of one of Triton's compilation errors, by the function whose source it carries."""
    source, node = getattr(error, "src", None), getattr(error, "node", None)
    line = getattr(node, "lineno", None)
    if not isinstance(source, str) or line is None:
        return None
    from triton.runtime.jit import JITFunction

    for function in gc.get_objects():
        if isinstance(function, JITFunction) and function.src == source:
            file, begin = definition(function)
            return file, begin + line - 1
    return None


def definition(function: Any) -> tuple[str, int]:
    """File and line of a jit function's ``def``."""
    if hasattr(function, "def_file_line_number"):
        return function.file_name, function.def_file_line_number
    from triton.runtime.jit import get_jit_fn_file_line

    file, line = get_jit_fn_file_line(function)
    return file, line
