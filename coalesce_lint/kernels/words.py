"""Sets of names, written as one line of words."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of ``text``."""
    return frozenset(text.split())
