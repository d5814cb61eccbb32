"""``coalesce-lint rule``: pages of rules."""

from __future__ import annotations

import json

import click

from coalesce_lint.commands.common import CONTEXT, complain_of_rules, complete_codes, fail
from coalesce_lint.terminal import write


@click.command(context_settings=CONTEXT, short_help="Print the page of a rule, or list all rules.")
@click.argument("codes", nargs=-1, metavar="CODE...", shell_complete=complete_codes)
@click.option("--all", "everything", is_flag=True, help="All rules; as text one a line.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="json: a list of objects with code, name, summary, severity, default, package, page and sections "
    "(the page's texts by heading).",
)
def rule(codes: tuple[str, ...], everything: bool, form: str) -> int:
    """Print the page of a rule: what it does, why, a bad and a good kernel, how to fix, measured evidence.

    A CODE may be the beginning of one: 'coalesce-lint rule CL1' prints the pages of all rules on access
    patterns. Rules of installed packages are among them.

    \b
    Exit code:
      0  the pages were printed
      2  no rule has a code that begins with CODE
    """
    from coalesce_lint import rule_pages
    from coalesce_lint.findings import all_rules

    if everything == bool(codes):
        fail("give one CODE or more, or --all")
    complain_of_rules()
    chosen = list(all_rules()) if everything else []
    for code in codes:
        matching = [r for r in all_rules() if r.code.startswith(code.upper())]
        if not matching or not code:
            fail(f"no rule has a code that begins with '{code}'; 'coalesce-lint rule --all' lists them")
        chosen += [r for r in matching if r not in chosen]
    if form == "json":
        write(json.dumps([rule_pages.record(r) for r in chosen], indent=2) + "\n")
    elif everything:
        write("".join(rule_pages.line(r) + "\n" for r in chosen))
    else:
        write("\n".join(rule_pages.text(r) for r in chosen))
    return 0
