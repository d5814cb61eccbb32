"""When Python's collector of cycles runs: between files, not within them.

Syntax trees and expression graphs are millions of objects that live as long as their file is read, and the
collector would walk them over and over while they grow: a third of the time of a run. Nearly all of them go
without it; the cycles that a file leaves are taken away before the next one, when little else is young.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

#: New objects at which the collector runs within a file all the same, lest a huge one fill the memory.
_WITHIN = 2_000_000
#: New objects left of earlier files from which on the collector is run before the next file.
_BETWEEN = 500_000


@contextmanager
def between_files() -> Iterator[None]:
    """Has the collector run in ``next_file`` only and leave alone what is there already; also a decorator."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(_WITHIN, *before[1:])
    try:
        yield
    finally:
        gc.freeze()  # with ``unfreeze``: what is young counts as old, and starts no collection here
        gc.set_threshold(*before)
        gc.unfreeze()


def settle() -> None:
    """Has the collector never look at what is there now: syntax trees of all files, before workers fork."""
    gc.freeze()


def next_file() -> None:
    """Takes away the cycles that files before this one have left, where they are many."""
    if gc.get_count()[0] > _BETWEEN:
        gc.collect(1)
