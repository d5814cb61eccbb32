"""A progress bar on standard error, where somebody looks at it and the work is long."""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar

#: Seconds of work before a bar is drawn: most runs need none.
DELAY = 1.0


def is_wanted() -> bool:
    """Whether standard error is a terminal with somebody before it; logs of CI systems are not, whatever
    they claim to be."""
    if sys.stderr is None or os.environ.get("CI") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stderr.isatty()


class Progress:
    """Told how many of how many files are done; draws the bar once ``DELAY`` has gone by, wipes it at the
    end."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._bar: ProgressBar[int] | None = None
        self._drawn = 0

    def __call__(self, done: int, of: int) -> None:
        import click

        if self._bar is None:
            if done >= of or time.monotonic() - self._started < DELAY:
                return
            self._bar = click.progressbar(length=of, label="coalesce-lint", file=sys.stderr, show_pos=True)
            self._bar.__enter__()
        self._bar.update(done - self._drawn)
        self._drawn = done

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            sys.stderr.write("\r\x1b[2K\x1b[?25h")  # the line is wiped, the cursor shown again
            sys.stderr.flush()
