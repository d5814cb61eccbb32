"""``coalesce-lint explain``: every access of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from coalesce_lint.commands.common import CONTEXT, fail, load_settings, settings_options, strings_option
from coalesce_lint.terminal import complain, has_colour, write

if TYPE_CHECKING:
    from coalesce_lint.pins import Pins


@click.command(context_settings=CONTEXT, short_help="Show every access of kernels with its lanes drawn.")
@click.argument("targets", nargs=-1, required=True, metavar="PATH[::KERNEL]...", type=click.Path())
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
@click.option("--num-warps", type=int, metavar="N", help="Pin the number of warps, a power of two up to 32.")
@click.option(
    "--triton",
    type=click.Choice(["3.6", "3.9"]),
    help="The Triton version whose layouts are meant. [default: of the settings, else the installed one, "
    "else 3.6]",
)
@click.option("--arch", metavar="sm90", help="The GPU architecture that is meant. [default: of the settings]")
@click.option(
    "--compiled",
    is_flag=True,
    help="Also compile each kernel for the pinned launch, and set what the compiler made of an access beside "
    "what the model says. THIS IMPORTS THE KERNEL'S FILE (in a subprocess); nothing else here runs what it "
    "reads. Needs torch and triton (pip install 'coalesce-lint[verify]'), and no GPU.",
)
@click.option(
    "--context",
    multiple=True,
    metavar="PATH",
    help="Also look here for the launches of the kernels, repeatable. [default: in the files of the targets]",
)
@settings_options
@strings_option
def explain(
    targets: tuple[str, ...],
    form: str,
    strings: bool,
    compiled: bool,
    context: tuple[str, ...],
    **options: Any,
) -> int:
    """Show every access of kernels, not only findings.

    For each access: its source, its offset in elements, the part that varies by lane with its multiplier,
    every tile axis with extent and stride, the verdict and why, and a drawing of a warp's lanes over
    32-byte sectors.

    PATH is a file, a folder or '-' for standard input; '::KERNEL' picks one kernel of a file. Pinned values
    are put in before the verdict, and branches that they rule out are left out.

    \b
    Examples:
      coalesce-lint explain k.py                          every kernel of a file
      coalesce-lint explain k.py::column_sum --arg n_cols=4096 --arg x_ptr=*fp16 --grid 128
      coalesce-lint explain k.py --context host.py        with the launches in another file

    \b
    Verdicts:
      uniform      no tile axis changes the address
      contiguous   some axis has stride 1 or -1
      parametric   contiguous for some values of a stride argument (the condition is shown)
      strided      every varying axis has a stride that is not 1
      gather       along every varying axis the address depends on loaded values
      unknown      could not be told (the reason is shown)

    \b
    Exit code:
      0  everything was read
      2  a path, kernel or option that is wrong, a file that cannot be parsed; the others are shown all the
         same
    """
    from coalesce_lint import explain as run

    parsed = [run.target(text) for text in targets]
    found = load_settings([t.path for t in parsed], options.pop("config"), options.pop("isolated"))
    options["triton"] = options["triton"] or found.triton
    options["arch"] = options["arch"] or found.arch
    pins = _pins(options)
    if compiled:
        _can_compile(pins)
    kernels, errors = run.explain_targets(parsed, pins, found, strings, context)
    if compiled:
        from coalesce_lint.verify.explain import add_compiled

        errors += add_compiled(kernels, pins)
    if form == "json":
        from coalesce_lint.output import json

        write(json.render_kernels(kernels, errors))
    else:
        from coalesce_lint.output import explain as text

        write(text.render(kernels, has_colour()))
    if not kernels and not errors:
        complain("no kernels found")
    for e in errors:
        complain(f"{e.path}:{e.line}: {e.text}" if e.line else f"{e.path}: {e.text}")
    return 2 if errors else 0


def _can_compile(pins: Pins) -> None:
    from coalesce_lint.verify.explain import obstacle

    if reason := obstacle(pins):
        fail(f"--compiled {reason}")


def _pins(options: dict[str, Any]) -> Pins:
    from coalesce_lint.pins import PinError, make_pins

    try:
        return make_pins(**options)
    except PinError as error:
        fail(str(error))
