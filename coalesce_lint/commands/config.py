"""``coalesce-lint config``: the settings that hold, and where each comes from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from coalesce_lint.commands.common import CONTEXT, fail, load_settings, settings_options
from coalesce_lint.terminal import write


@click.command(context_settings=CONTEXT, short_help="Print the settings that hold, and where they come from.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--schema", is_flag=True, help="Print the JSON schema of [tool.coalesce-lint] instead.")
@settings_options
def config(paths: tuple[str, ...], schema: bool, **options: Any) -> int:
    """Print the settings that hold for PATH (the current folder where none is given), as TOML.

    Behind each stands the file it comes from, or 'default'. The last line lists the rules that are on.

    \b
    Exit code:
      0  the settings were printed
      2  they cannot be used; the message names the file and the key
    """
    from coalesce_lint import settings
    from coalesce_lint.findings import all_rules
    from coalesce_lint.output.text import printable

    if schema:
        write(json.dumps(settings.json_schema(), indent=2) + "\n")
        return 0
    found = load_settings(list(paths) or [str(Path.cwd())], options["config"], options["isolated"])
    try:
        rules = found.active(all_rules())
    except settings.SettingsError as error:
        fail(f"{found.source}: {error}")
    lines = [
        (f"{key} = {_toml(value)}" if value is not None else f"# {key} is not set", found.origins.get(key))
        for key, value in found.values().items()
    ]
    width = max(len(line) for line, _ in lines)
    for line, origin in lines:
        write(printable(f"{line:<{width}}  # {origin or 'default'}") + "\n")
    write(f"# rules: {' '.join(r.code for r in rules)}\n")
    return 0


def _toml(value: Any) -> str:
    """A value as TOML; JSON's texts, numbers and lists are TOML's too."""
    if isinstance(value, dict):
        return (
            "{ " + ", ".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in value.items()) + " }"
            if value
            else "{}"
        )
    return json.dumps(value, ensure_ascii=False)
