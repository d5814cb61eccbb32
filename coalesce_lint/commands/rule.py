"""``coalesce-lint rule``: pages of rules."""

from __future__ import annotations

import click

from coalesce_lint.commands.common import CONTEXT, fail
from coalesce_lint.terminal import write


@click.command(context_settings=CONTEXT, short_help="Print the page of a rule, or list all rules.")
@click.argument("codes", nargs=-1, metavar="CODE...")
@click.option("--all", "everything", is_flag=True, help="List all rules, one a line.")
def rule(codes: tuple[str, ...], everything: bool) -> int:
    """Print the page of a rule: what it does, why, a bad and a good kernel, how to fix, measured evidence.

    A CODE may be the beginning of one: 'coalesce-lint rule CL1'.
    """
    from coalesce_lint.findings import all_rules

    if everything == bool(codes):
        fail("give one CODE or more, or --all")
    if everything:
        for r in all_rules():
            write(f"{r.code}  {r.name:<20} {r.severity:<8} {'on' if r.default else 'off':<4} {r.summary}\n")
        return 0
    pages = []
    for code in codes:
        matching = [r for r in all_rules() if r.code.startswith(code.upper())]
        if not matching or not code:
            fail(f"no rule has a code that begins with '{code}'; 'coalesce-lint rule --all' lists them")
        for r in matching:
            state = "on by default" if r.default else "off by default"
            pages.append(f"# {r.code} {r.name} ({r.severity}, {state})\n\n{r.page().strip()}\n")
    write("\n".join(pages))
    return 0
