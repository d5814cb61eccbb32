"""The command line: verbs, exit codes, what becomes of errors. No analysis; the verbs are in ``commands/``.

``--version``, ``--help`` and ``rule`` must stay cheap: nothing at the top of this module, or in what it
imports, may import libcst, sympy, torch or triton.
"""

from __future__ import annotations

import atexit
import difflib
import errno
import gc
import os
from collections.abc import Sequence

import click

from coalesce_lint import __version__, terminal
from coalesce_lint.commands.check import check
from coalesce_lint.commands.clean import clean
from coalesce_lint.commands.common import CONTEXT
from coalesce_lint.commands.config import config
from coalesce_lint.commands.explain import explain
from coalesce_lint.commands.rule import rule
from coalesce_lint.commands.verify import verify

#: Errors of writing to where there is no room.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class DefaultVerb(click.Group):
    """A group for which ``PATH...`` without a verb means ``check PATH...``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = {"-h", "--help", "--version"}
        if ctx.resilient_parsing and not args:  # the shell completes the first word
            return super().parse_args(ctx, args)
        if not args:
            click.echo(self.get_help(ctx), err=True)
            ctx.exit(2)
        if args[0] not in self.commands and args[0] not in own:
            if not ctx.resilient_parsing:
                self._suggest(args[0])
            args = ["check", *args]
        return super().parse_args(ctx, args)

    def _suggest(self, word: str) -> None:
        """Ends the run where ``word`` is no path and looks like a misspelt verb."""
        if word.isalpha() and not os.path.lexists(word):
            if word == "help":
                raise click.UsageError("no such file or folder: 'help'; did you mean '--help'?")
            for verb in difflib.get_close_matches(word, self.commands, 1, 0.75):
                raise click.UsageError(f"no such verb, file or folder: '{word}'; did you mean '{verb}'?")

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, "[check] [OPTIONS] PATH...")
        formatter.write_usage(ctx.command_path, "VERB [OPTIONS] [ARGS]...", prefix="       ")


@click.group(cls=DefaultVerb, context_settings=CONTEXT)
@click.version_option(__version__, prog_name="coalesce-lint", message="%(prog)s %(version)s")
def cli() -> None:
    """Says which memory accesses of Triton kernels are strided, by what, and what to do about it.

    The code under PATH is read, never imported or run; no GPU, torch or triton is needed. Only 'verify' (and
    'explain --compiled') run code, and need torch and triton. 'coalesce-lint
    PATH...' is 'coalesce-lint check PATH...'; 'coalesce-lint VERB --help' has the options of a verb.

    \b
    Examples:
      coalesce-lint src/                         lint a folder
      coalesce-lint --format full src/k.py       with the source, from tl.arange to the access
      coalesce-lint explain src/k.py::my_kernel  every access of a kernel, with its lanes drawn
      coalesce-lint rule CL101                   what a rule means and how to fix it
      coalesce-lint verify bench.py              run it, and measure what its findings cost

    'python -m coalesce_lint' is the same. For completion in the shell:
    eval "$(_COALESCE_LINT_COMPLETE=bash_source coalesce-lint)", or zsh_source, or for fish
    _COALESCE_LINT_COMPLETE=fish_source coalesce-lint | source.

    \b
    Exit code of check:
      0  nothing found (findings of severity info do not count)
      1  findings; a file that may hold kernels and cannot be parsed is one (CL901)
      2  a path that is missing or unreadable, a bad option or setting, an internal error; 2 wins over 1
    """


for _verb in (check, clean, config, explain, rule, verify):
    cli.add_command(_verb)


def main(args: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit code; no exception leaves it but SystemExit."""
    terminal.prepare()
    atexit.register(gc.freeze)  # the process ends: no search for cycles in all that it has built
    try:
        os.getcwd()
    except OSError as error:
        terminal.complain(f"the current folder: {error.strerror or error}")
        return 2
    try:
        code = cli.main(args=args, prog_name="coalesce-lint", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        _usage_error(error)
        return 2
    except (click.Abort, KeyboardInterrupt):
        terminal.complain("interrupted")
        return 130
    except BrokenPipeError:
        terminal.reader_has_left()
        return 2
    except terminal.OutputError as error:
        terminal.complain(str(error))
        return 2
    except OSError as error:
        if error.errno not in _NO_ROOM or error.filename is not None:
            return _internal(error)
        terminal.complain(f"standard output cannot be written to: {error.strerror}")  # by click, its help
        return 2
    except Exception as error:
        return _internal(error)


def _internal(error: Exception) -> int:
    """Tells an error that nobody foresaw."""
    from coalesce_lint.failures import debugging, describe

    if debugging():
        raise error
    terminal.complain(f"internal error: {describe(error)} (COALESCE_LINT_DEBUG=1 shows where)")
    return 2


def _usage_error(error: click.ClickException) -> None:
    context = getattr(error, "ctx", None)
    verb = context.command_path if context is not None else "coalesce-lint"
    terminal.complain(f"{error.format_message()} ('{verb} --help' has the options)")
