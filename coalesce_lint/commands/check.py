"""``coalesce-lint check``: findings."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coalesce_lint.commands.common import (
    CONTEXT,
    complain_of_rules,
    complete_codes,
    fail,
    load_settings,
    settings_options,
    strings_option,
)
from coalesce_lint.commands.results import conclude
from coalesce_lint.settings import FORMATS

if TYPE_CHECKING:
    from coalesce_lint.changes import Changes
    from coalesce_lint.findings import Rule
    from coalesce_lint.settings import Settings


@click.command(context_settings=CONTEXT, short_help="Lint kernels; the verb that is meant without one.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@click.option(
    "--select",
    multiple=True,
    metavar="CODES",
    shell_complete=complete_codes,
    help="Run these rules instead of the default set.",
)
@click.option(
    "--extend-select",
    multiple=True,
    metavar="CODES",
    shell_complete=complete_codes,
    help="Run these rules besides the others.",
)
@click.option(
    "--ignore", multiple=True, metavar="CODES", shell_complete=complete_codes, help="Do not run these rules."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="concise: 'path:line:col: CODE message' for each finding. full: with the source. json, json-lines: "
    "see the README. sarif (2.1.0), github (annotations), gitlab (code quality), junit: for these programs. "
    "[default: output-format of the settings, else concise]",
)
@click.option(
    "--output-file", "-o", type=click.Path(path_type=Path), metavar="FILE", help="Write findings there."
)
@click.option("--statistics", is_flag=True, help="Count the findings of each rule at the end.")
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Leave out the findings that FILE knows. [default: baseline of the settings]",
)
@click.option(
    "--write-baseline",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write all findings to FILE as known.",
)
@click.option(
    "--diff",
    metavar="REV",
    help="Only findings in kernels that changed since this git revision, such as main.",
)
@click.option("--add-noqa", is_flag=True, help="Write '# noqa' comments for all findings into the files.")
@click.option("--quiet", "-q", is_flag=True, help="No summary line on standard error.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even with findings; 2 stays 2.")
@click.option(
    "--jobs", "-j", type=click.IntRange(1, 512), metavar="N", help="Processes to use. [default: one a core]"
)
@settings_options
@click.option("--force-exclude", is_flag=True, help="Let 'exclude' hold for files that are given, too.")
@click.option("--stdin-filename", metavar="NAME", help="The name of what is read for the path '-'.")
@strings_option
@click.option(
    "--evidence",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE.json",
    help="Add the slowdowns that 'verify --json' measured to the messages; repeatable.",
)
@click.option(
    "--min-slowdown",
    type=click.FloatRange(0.0),
    metavar="X",
    help="With --evidence: hide findings that measured below X.",
)
@click.option("--no-cache", is_flag=True, help="Neither read nor write .coalesce_lint_cache.")
def check(paths: tuple[str, ...], **options: Any) -> int:
    """Lint kernels: report the accesses that are strided and worth repairing.

    PATH is a file (taken whatever its name), a folder (its *.py files, without those that .gitignore names
    and without folders such as .venv, build and node_modules), or '-' for standard input.

    CODES are codes or beginnings of codes, with commas between them: --select CL1 --ignore CL100,CL103. The
    longer of two entries wins. A '# noqa' or '# noqa: CL101' comment on a line of the access, or of the
    assignment of its offset, silences it there; '# coalesce-lint: off' on a 'def' line silences a kernel, on
    a line of its own the file.

    Findings go to standard output. One line on standard error then counts files, kernels, accesses,
    unknowns and findings, so that finding no kernels is told from finding nothing wrong.

    Results are kept in .coalesce_lint_cache and used while nothing that they depend on has changed
    ('coalesce-lint clean' deletes them). Settings are those of the nearest pyproject.toml above the paths
    with a table [tool.coalesce-lint]; options go over them ('coalesce-lint config' prints what holds).

    \b
    Examples:
      coalesce-lint check src/                            lint a folder
      coalesce-lint check --diff main src/                only kernels that changed since main
      coalesce-lint check --write-baseline known.json .   take today's findings as known, then:
      coalesce-lint check --baseline known.json .         only new ones
      coalesce-lint check --format sarif -o lint.sarif .  a report for code scanning

    \b
    Exit code:
      0  nothing found (findings of severity info do not count)
      1  findings; a file that may hold kernels and cannot be parsed is one (CL901)
      2  a path that is missing or unreadable, a bad option or setting, an internal error; 2 wins over 1
    """
    from coalesce_lint import check as run
    from coalesce_lint import files, prepare
    from coalesce_lint.discovery import discovered
    from coalesce_lint.progress import Progress, is_wanted

    named = [options["stdin_filename"] or p if p == "-" else p for p in paths]
    found = load_settings(named, options["config"], options["isolated"])
    rules = _rules(found, options)
    form = options["form"] or found.output_format
    stdin = (options["stdin_filename"] or "<stdin>") if "-" in paths else None
    items = files.walk([p for p in paths if p != "-"], found.exclude, found.root, options["force_exclude"])
    todo = replace(
        prepare.work(found, rules, [p for p in named if p != "-"]),
        strings=options["strings"],
        changes=_changes(options["diff"], named),
        frames=form in ("full", "sarif"),
    )
    with Progress() as progress:
        outcome = run.check_paths(
            items,
            todo,
            jobs=options["jobs"] or run.default_jobs(),
            stdin=None if stdin is None else (stdin, files.read_stdin(stdin)),
            cache=None if options["no_cache"] else prepare.cache(found, todo),
            progress=progress if is_wanted() and not options["quiet"] else None,
        )
    outcome.problems += [files.Problem(name, why) for name, why in discovered().problems]
    return conclude(outcome, form, found, options)


def _changes(revision: str | None, paths: list[str]) -> Changes | None:
    """What changed since ``revision``. Ends the run where git cannot tell."""
    if revision is None:
        return None
    from coalesce_lint import changes

    folders = [p if os.path.isdir(p) else os.path.dirname(p) or "." for p in paths]
    try:
        return changes.since(revision, [f for f in folders if os.path.isdir(f)])
    except changes.ChangesError as error:
        fail(str(error))


def _rules(found: Settings, options: dict[str, Any]) -> list[Rule]:
    """The rules to run: the settings', with the options over them."""
    from coalesce_lint.findings import all_rules
    from coalesce_lint.selection import Selection, split_codes
    from coalesce_lint.settings import SettingsError

    found.layers.append(
        Selection(
            select=split_codes(options["select"]) or None,
            extend_select=split_codes(options["extend_select"]),
            ignore=split_codes(options["ignore"]),
        )
    )
    try:
        return found.active(all_rules())
    except SettingsError as error:
        complain_of_rules()
        fail(str(error))
