"""``python -m coalesce_lint``."""

import os
import sys


def _leave_current_folder() -> None:
    """Takes the current folder off the path of imports, where ``python -m`` puts it first.

    It is most often the folder that is linted: a file of it named like a module of the standard library
    would be imported, that is run.
    """
    try:
        here = os.getcwd()
    except OSError:
        return  # the folder is gone
    if sys.path and sys.path[0] in ("", here):
        del sys.path[0]


if __name__ == "__main__":
    _leave_current_folder()

    from coalesce_lint.cli import main

    sys.exit(main())
