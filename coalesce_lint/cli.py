"""The command line: verbs, options, exit codes. No analysis; each verb imports what it needs when it runs.

``--version``, ``--help`` and ``rule`` must stay cheap: nothing at the top of this module, or in what it
imports, may import libcst, sympy, torch or triton.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from coalesce_lint import __version__

if TYPE_CHECKING:
    from coalesce_lint.pins import Pins
    from coalesce_lint.settings import Settings

CONTEXT: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class DefaultVerb(click.Group):
    """A group for which ``PATH...`` without a verb means ``check PATH...``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = {"-h", "--help", "--version"}
        if args and args[0] not in self.commands and args[0] not in own:
            args = ["check", *args]
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, "[check] [OPTIONS] PATH...")
        formatter.write_usage(ctx.command_path, "VERB [OPTIONS] [ARGS]...", prefix="       ")


@click.group(cls=DefaultVerb, context_settings=CONTEXT)
@click.version_option(__version__, prog_name="coalesce-lint", message="%(prog)s %(version)s")
def cli() -> None:
    """Says which memory accesses of Triton kernels are strided, by what, and what to do about it.

    The code under PATH is read, never imported or run; no GPU, torch or triton is needed. 'coalesce-lint
    PATH...' is 'coalesce-lint check PATH...'; 'coalesce-lint VERB --help' has the options of a verb.

    \b
    Examples:
      coalesce-lint src/                         lint a folder
      coalesce-lint explain src/k.py::my_kernel  every access of a kernel, with its lanes drawn
      coalesce-lint rule CL101                   what a rule means and how to fix it

    \b
    Exit code of check:
      0  nothing found (findings of severity info do not count)
      1  findings; a file that may hold kernels and cannot be parsed is one (CL901)
      2  a path that is missing or unreadable, a bad option or setting, an internal error; 2 wins over 1
    """


def _fail(message: str) -> NoReturn:
    raise click.UsageError(message)


@cli.command(context_settings=CONTEXT, short_help="Lint kernels; the verb that is meant without one.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--select", multiple=True, metavar="CODES", help="Run these rules instead of the default set.")
@click.option("--extend-select", multiple=True, metavar="CODES", help="Run these rules besides the others.")
@click.option("--ignore", multiple=True, metavar="CODES", help="Do not run these rules.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["concise", "json"]),
    default="concise",
    show_default=True,
    help="concise: 'path:line:col: CODE message' for each finding. json: one document, see the README.",
)
@click.option("--quiet", "-q", is_flag=True, help="No summary line on standard error.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even with findings; 2 stays 2.")
@click.option(
    "--jobs", "-j", type=click.IntRange(1, 512), metavar="N", help="Processes to use. [default: one a core]"
)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Read [tool.coalesce-lint] from this file.",
)
@click.option("--isolated", is_flag=True, help="Read no settings file.")
@click.option("--force-exclude", is_flag=True, help="Let 'exclude' hold for files that are given, too.")
@click.option("--stdin-filename", metavar="NAME", help="The name of what is read for the path '-'.")
@click.option("--no-cache", is_flag=True, help="Accepted for what comes: results are not cached yet.")
def check(paths: tuple[str, ...], **options: Any) -> int:
    """Lint kernels: report the accesses that are strided and worth repairing.

    PATH is a file (taken whatever its name), a folder (its *.py files, without those that .gitignore names
    and without folders such as .venv, build and node_modules), or '-' for standard input.

    CODES are codes or beginnings of codes, with commas between them: --select CL1 --ignore CL100,CL103. The
    longer of two entries wins. A '# noqa' or '# noqa: CL101' comment on a line of the access silences it
    there.

    Findings go to standard output. One line on standard error then counts files, kernels, accesses,
    unknowns and findings, so that finding no kernels is told from finding nothing wrong.

    \b
    Exit code:
      0  nothing found (findings of severity info do not count)
      1  findings; a file that may hold kernels and cannot be parsed is one (CL901)
      2  a path that is missing or unreadable, a bad option or setting, an internal error; 2 wins over 1
    """
    from coalesce_lint import check as run
    from coalesce_lint import files, selection, settings
    from coalesce_lint.assume import Assumptions
    from coalesce_lint.findings import all_rules
    from coalesce_lint.selection import Selection, split_codes

    named = [options["stdin_filename"] or p if p == "-" else p for p in paths]
    try:
        found = _settings(named, options["config"], options["isolated"])
        found.layers.append(
            Selection(
                select=split_codes(options["select"]) or None,
                extend_select=split_codes(options["extend_select"]),
                ignore=split_codes(options["ignore"]),
            )
        )
        rules = found.active(all_rules())
    except settings.SettingsError as error:
        _fail(str(error))
    stdin = (options["stdin_filename"] or "<stdin>") if "-" in paths else None
    items = files.walk([p for p in paths if p != "-"], found.exclude, found.root, options["force_exclude"])
    outcome = run.check_paths(
        items,
        rules,
        jobs=options["jobs"] or run.default_jobs(),
        roots=files.roots([p for p in named if p != "-"]),
        stdin=None if stdin is None else (stdin, sys.stdin.buffer.read(files.SIZE_LIMIT)),
        assumptions=Assumptions.of(found),
        asked=selection.asked(found.layers, (r.code for r in rules)),
    )
    _print(_formats(options["form"]).render(outcome, _colour()))
    for problem in outcome.problems:
        _complain(f"{problem.path}: {problem.message}")
    if not options["quiet"]:
        _complain(run.summary(outcome))
    return 0 if options["exit_zero"] and outcome.exit_code == 1 else outcome.exit_code


def _formats(name: str) -> Any:
    """The output module of that name."""
    import importlib

    return importlib.import_module(f"coalesce_lint.output.{name}")


def _settings(paths: Sequence[str], config: Path | None, isolated: bool) -> Settings:
    from coalesce_lint import settings

    if config is not None and isolated:
        _fail("--config and --isolated exclude each other")
    if isolated:
        return settings.Settings()
    return settings.load(config) if config is not None else settings.find(paths)


@cli.command(context_settings=CONTEXT, short_help="Show every access of kernels with its lanes drawn.")
@click.argument("targets", nargs=-1, required=True, metavar="PATH[::KERNEL]...")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="json is a contract with other programs, see the README.",
)
@click.option(
    "--arg",
    "args",
    multiple=True,
    metavar="NAME=VALUE",
    help="Pin an argument, repeatable: n_cols=4096, BLOCK=128, x_ptr=*fp16 (a pointer by its element type), "
    "x_ptr=*fp16:2 (with its alignment in bytes; 16 where it is not said).",
)
@click.option("--grid", metavar="X[,Y[,Z]]", help="Pin the launch grid.")
@click.option("--num-warps", type=int, metavar="N", help="Pin the number of warps.")
@click.option(
    "--triton",
    type=click.Choice(["3.6", "3.9"]),
    help="The Triton version whose layouts are meant. [default: the installed one, else 3.6]",
)
@click.option("--arch", metavar="sm90", help="The GPU architecture that is meant.")
@click.option(
    "--compiled",
    is_flag=True,
    help="Also compile each kernel for the pinned launch, and set what the compiler made of an access beside "
    "what the model says. THIS IMPORTS THE KERNEL'S FILE (in a subprocess); nothing else here runs what it "
    "reads. Needs torch and triton (pip install 'coalesce-lint[verify]'), and no GPU.",
)
def explain(targets: tuple[str, ...], form: str, compiled: bool, **options: Any) -> int:
    """Show every access of kernels, not only findings.

    For each access: its source, its offset in elements, the part that varies by lane with its multiplier,
    every tile axis with extent and stride, the verdict and why, and a drawing of a warp's lanes over
    32-byte sectors.

    PATH is a file, a folder or '-' for standard input; '::KERNEL' picks one kernel of a file. Pinned values
    are put in before the verdict, and branches that they rule out are left out.

    \b
    Verdicts:
      uniform      no tile axis changes the address
      contiguous   some axis has stride 1 or -1
      parametric   contiguous for some values of a stride argument (the condition is shown)
      strided      every varying axis has a stride that is not 1
      gather       along every varying axis the address depends on loaded values
      unknown      could not be told (the reason is shown)

    \b Exit code: 0  everything was read 2  a path, kernel or option that is wrong, a file that cannot be
    parsed; the others are shown all the same
    """
    from coalesce_lint import explain as run
    from coalesce_lint.pins import PinError, make_pins

    try:
        pins: Pins = make_pins(**options)
    except PinError as error:
        _fail(str(error))
    if compiled:
        from coalesce_lint.verify.explain import obstacle

        if reason := obstacle(pins):
            _fail(f"--compiled {reason}")
    kernels, errors = run.explain_targets(targets, pins, compiled)
    if form == "json":
        _print(_formats("json").render_kernels(kernels, errors))
    else:
        _print(_formats("explain").render(kernels, _colour()))
    if not kernels and not errors:
        _complain("no kernels found")
    for e in errors:
        _complain(f"{e.path}:{e.line}: {e.message}" if e.line else f"{e.path}: {e.message}")
    return 2 if errors else 0


@cli.command(context_settings=CONTEXT, short_help="Print the page of a rule, or list all rules.")
@click.argument("codes", nargs=-1, metavar="CODE...")
@click.option("--all", "everything", is_flag=True, help="List all rules, one a line.")
def rule(codes: tuple[str, ...], everything: bool) -> int:
    """Print the page of a rule: what it does, why, a bad and a good kernel, how to fix, measured evidence.

    A CODE may be the beginning of one: 'coalesce-lint rule CL1'.
    """
    from coalesce_lint.findings import all_rules

    if everything == bool(codes):
        _fail("give one CODE or more, or --all")
    if everything:
        for r in all_rules():
            _print(f"{r.code}  {r.name:<20} {r.severity:<8} {'on' if r.default else 'off':<4} {r.summary}\n")
        return 0
    pages = []
    for code in codes:
        matching = [r for r in all_rules() if r.code.startswith(code.upper())]
        if not matching or not code:
            _fail(f"no rule has a code that begins with '{code}'; 'coalesce-lint rule --all' lists them")
        for r in matching:
            state = "on by default" if r.default else "off by default"
            pages.append(f"# {r.code} {r.name} ({r.severity}, {state})\n\n{r.page().strip()}\n")
    _print("\n".join(pages))
    return 0


def _colour() -> bool:
    """Colour goes to a terminal only, and not where NO_COLOR asks for none."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _print(text: str) -> None:
    sys.stdout.write(text)


def _complain(text: str) -> None:
    from coalesce_lint.output.text import printable

    sys.stdout.flush()
    sys.stderr.write(f"coalesce-lint: {printable(text)}\n")


def main(args: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit code; no exception leaves it but SystemExit."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = cli.main(args=args, prog_name="coalesce-lint", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        _usage_error(error)
        return 2
    except (click.Abort, KeyboardInterrupt):
        sys.stderr.write("coalesce-lint: interrupted\n")
        return 130
    except BrokenPipeError:
        # the reader has left (`| head`); nothing more may be written, not even by the interpreter's last
        # flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except Exception as error:
        if os.environ.get("COALESCE_LINT_DEBUG"):
            raise
        from coalesce_lint.check import describe

        _complain(f"internal error: {describe(error)} (COALESCE_LINT_DEBUG=1 shows where)")
        return 2


def _usage_error(error: click.ClickException) -> None:
    context = getattr(error, "ctx", None)
    verb = context.command_path if context is not None else "coalesce-lint"
    _complain(f"{error.format_message()} ('{verb} --help' has the options)")
