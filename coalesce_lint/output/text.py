"""Text for a terminal: control characters made visible, and colour where it is wanted."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coalesce_lint.findings import Finding

_COLOURS = {"red": 31, "green": 32, "yellow": 33, "magenta": 35, "cyan": 36}


def printable(text: str) -> str:
    """``text`` with everything escaped that could steer a terminal or is not a character at all.

    Paths and source are other people's text: escape sequences, line breaks in file names, bytes that are not
    valid in the file system's encoding, and characters that turn the writing direction.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if _harmless(c) else _escaped(c) for c in text)


def _harmless(char: str) -> bool:
    return unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp", "Co", "Cn")


def _escaped(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


class Painter:
    """Colours text, or leaves it alone where colour is off."""

    def __init__(self, on: bool) -> None:
        self.on = on

    def __call__(self, text: str, colour: str | None = None, bold: bool = False) -> str:
        if not self.on or (colour is None and not bold):
            return text
        codes = [str(c) for c in (1 if bold else None, _COLOURS.get(colour or "")) if c is not None]
        return f"\x1b[{';'.join(codes)}m{text}\x1b[0m"


def qualifiers(finding: Finding) -> str:
    """What stands behind a code, such as " [info, assumed]": an unusual severity or confidence."""
    unusual = [finding.severity] if finding.severity != "warning" else []
    unusual += [finding.confidence] if finding.confidence != "proved" else []
    return f" [{', '.join(unusual)}]" if unusual else ""
