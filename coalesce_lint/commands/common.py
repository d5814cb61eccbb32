"""What several verbs share: the options on settings, and errors of usage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from coalesce_lint.settings import Settings

CONTEXT: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def fail(message: str) -> NoReturn:
    """Ends the run with ``message``, which is about the command line or the settings, and exit code 2."""
    raise click.UsageError(message)


def settings_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds ``--config`` and ``--isolated``."""
    isolated = click.option("--isolated", is_flag=True, help="Read no settings file.")
    config = click.option(
        "--config",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Read [tool.coalesce-lint] from this file.",
    )
    return config(isolated(command))


def load_settings(paths: Sequence[str], config: Path | None, isolated: bool) -> Settings:
    """The settings for ``paths``, as the options say. Ends the run where they cannot be used."""
    from coalesce_lint import settings

    if config is not None and isolated:
        fail("--config and --isolated exclude each other")
    try:
        if isolated:
            return settings.Settings()
        return settings.load(config) if config is not None else settings.find(paths)
    except settings.SettingsError as error:
        fail(str(error))


def complain_of_rules() -> None:
    """Tells of rules of other packages that cannot be used."""
    from coalesce_lint.discovery import discovered
    from coalesce_lint.terminal import complain

    for name, why in discovered().problems:
        complain(f"{name}: {why}")


def complete_codes(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The rules whose codes begin with what is typed, for the shell; a list with commas goes on."""
    from click.shell_completion import CompletionItem

    from coalesce_lint.findings import all_rules

    before, comma, typed = incomplete.rpartition(",")
    fitting = [r for r in all_rules() if r.code.startswith(typed.upper())]
    return [CompletionItem(f"{before}{comma}{r.code}", help=r.summary) for r in fitting]


def strings_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds ``--strings``."""
    return click.option(
        "--strings",
        is_flag=True,
        help="Read kernels inside string literals, too, as torch.compile writes them (not in f-strings).",
    )(command)
