"""``coalesce-lint clean``: delete the results of earlier runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from coalesce_lint.commands.common import CONTEXT, load_settings, settings_options
from coalesce_lint.terminal import OutputError, complain


@click.command(context_settings=CONTEXT, short_help="Delete the results that are kept between runs.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@settings_options
def clean(paths: tuple[str, ...], **options: Any) -> int:
    """Delete .coalesce_lint_cache, where 'check' keeps results between runs.

    The folder is beside the pyproject.toml that has the settings for PATH (by default the current folder);
    where none has, it is in the current folder. Both are deleted. The next run takes as long as a first one.

    \b
    Exit code:
      0  it is gone, or was not there
      2  it could not be deleted
    """
    from coalesce_lint.result_cache import FOLDER, folder_for, remove

    found = load_settings(paths or ["."], options["config"], options["isolated"])
    removed = False
    for folder in dict.fromkeys((folder_for(found.root), Path.cwd() / FOLDER)):
        try:
            if remove(folder):
                removed = True
                complain(f"{folder} deleted")
        except OSError as error:
            raise OutputError(f"{folder} cannot be deleted: {error.strerror or error}") from None
    if not removed:
        complain(f"there is no {FOLDER} here")
    return 0
