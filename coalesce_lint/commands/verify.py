"""``coalesce-lint verify``: runs flagged kernels against their stride-1 variants."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coalesce_lint.commands.common import CONTEXT, fail
from coalesce_lint.terminal import complain, write

if TYPE_CHECKING:
    from coalesce_lint.verify.session import Settings
    from coalesce_lint.verify.verification import Outcome

_KERNEL = re.compile(r"(.+\.py)::([\w.]+)$")


class ProgramCommand(click.Command):
    """What follows SCRIPT, or ``-m MODULE``, belongs to that program; options may follow FILE::KERNEL."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.allow_interspersed_args = False
        first = next((k for k, a in enumerate(args) if a.endswith(".py") or _KERNEL.match(a)), len(args))
        if first < len(args) and _KERNEL.match(args[first]):
            ctx.allow_interspersed_args = True
        elif "-m" in args[:first]:
            at = args.index("-m")
            ctx.meta["program"] = args[at + 2 :]
            args = args[: at + 2]
        return super().parse_args(ctx, args)


@click.command(
    cls=ProgramCommand,
    context_settings=CONTEXT,
    short_help="Run a program's kernels against their stride-1 variants: the real slowdown.",
)
@click.argument("target", nargs=-1, metavar="SCRIPT [ARGS]... | FILE.py::KERNEL")
@click.option("-m", "module", metavar="MODULE [ARGS]...", help="Run a module, as 'python -m' does.")
@click.option("--all", "everything", is_flag=True, help="Verify every access, not only flagged ones.")
@click.option("--line", type=click.IntRange(1), metavar="N", help="Verify the accesses on this line only.")
@click.option("--counters", is_flag=True, help="Read the hardware's counters, too, with ncu.")
@click.option(
    "--launches", type=click.IntRange(1, 64), default=1, show_default=True, metavar="N",
    help="Of each kernel, verify the N largest launches that differ.",
)  # fmt: skip
@click.option(
    "--arg", "args", multiple=True, metavar="NAME=VALUE",
    help="An argument of FILE.py::KERNEL, repeatable: n=4096, x=fp32[4096,4096], "
    "x=fp16[64,64]strides=(128,1)offset=8, index=int32[512]below=4096.",
)  # fmt: skip
@click.option("--grid", metavar="X[,Y[,Z]]", help="The grid, over the arguments: 'cdiv(n, BLOCK), 4'.")
@click.option("--num-warps", type=int, metavar="N", help="The number of warps of FILE.py::KERNEL.")
@click.option("--emit-variant", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Write the file with its kernels replaced by their variants.")  # fmt: skip
@click.option("--json", "json_file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Write the results as JSON, see the README.")  # fmt: skip
@click.option(
    "--fail-above", type=click.FloatRange(1.0), metavar="X", help="Exit with 1 if a slowdown is above X."
)
@click.option("--timeout", type=click.FloatRange(1.0), default=300.0, show_default=True, metavar="SECONDS",
              help="For the program, and for each later step.")  # fmt: skip
@click.option("--memory", type=click.FloatRange(0.01), default=16.0, show_default=True, metavar="GB",
              help="Keep no launch whose tensors take more.")  # fmt: skip
@click.option("--device", type=click.Choice(["auto", "cpu"]), default="auto", show_default=True,
              help="cpu: predict only, although there is a GPU.")  # fmt: skip
@click.option("--quiet", "-q", is_flag=True, help="No progress on standard error.")
@click.pass_context
def verify(ctx: click.Context, target: tuple[str, ...], **options: Any) -> int:
    """Run a program, keep its kernel launches, and measure what strided accesses really cost.

    THIS RUNS YOUR CODE: the script, the module or the kernel, once, in a process of its own. Needs the extra
    'verify' (torch and triton).

    Each flagged access is rewritten so that its lanes walk memory with stride 1, over a permuted copy of the
    tensor. The variant is proved first: every address of every active lane where it should be, and equal
    outputs. Then both are timed. Without a GPU, all but times and counters is done: the program runs in
    Triton's interpreter with 'cuda' meaning the CPU, and the verdict is 'predicted only'.

    A kernel under @triton.autotune is compared under the configuration that was chosen, and best against
    best: each side under the configuration that serves it best.

    FILE.py::KERNEL launches a kernel that has no script: with tensors made from --arg, or by the 'launch()'
    function of its file where no --arg is given.

    \b
    Examples:
      coalesce-lint verify train.py --steps 1
      coalesce-lint verify -m pytest tests/test_kernels.py
      coalesce-lint verify k.py::column_sum --arg x_ptr=fp32[4096,4096] --arg out_ptr=fp32[4096]
            --arg n_rows=4096 --arg n_cols=4096 --arg BLOCK=256 --grid n_cols

    \b
    Verdicts:
      measured (permuted)    timed against a variant whose tensor is stored permuted
      measured (split copy)  the flagged load alone reads a permuted copy of a tensor that is never written
      predicted only         no GPU
      refused: reason        no variant, or none that could be proved

    \b
    Exit code:
      0  verified (without a GPU: predicted); or nothing is flagged
      1  with --fail-above: a measured slowdown above it
      2  nothing could be verified, or the program failed
    """
    settings = _settings(target, ctx.meta.get("program", []), options)
    missing = [name for name in ("torch", "triton", "numpy") if importlib.util.find_spec(name) is None]
    if missing:
        complain(f"verify needs {' and '.join(missing)}: pip install 'coalesce-lint[verify]'")
        return 2
    from coalesce_lint.verify import report
    from coalesce_lint.verify.session import Progress, Session, Unverifiable, cleaned
    from coalesce_lint.verify.verification import verify as run

    progress = Progress(options["quiet"])
    try:
        with cleaned(Session(settings, progress)) as session:
            outcome = run(session)
    except Unverifiable as error:
        progress.clear()
        complain(str(error))
        return 2
    write(report.render(outcome.results))
    return _conclude(outcome, settings, options)


def _settings(target: tuple[str, ...], program: list[str], options: dict[str, Any]) -> Settings:
    """The settings of the run. Ends it where target and options do not go together."""
    from coalesce_lint.verify.session import Settings
    from coalesce_lint.verify.synthesize import SynthesisError, grid_of, parse

    module = options["module"]
    kernel = _KERNEL.match(target[0]) if target else None
    if (module is None) == (not target):
        fail("give a script, FILE.py::KERNEL or -m MODULE" + (", not both" if module and target else ""))
    if kernel is None and (options["args"] or options["grid"] or options["num_warps"]):
        fail("--arg, --grid and --num-warps are for FILE.py::KERNEL")
    if kernel is not None and len(target) > 1:
        fail(f"'{target[1]}' follows {target[0]}; arguments of a kernel are given by --arg")
    path = kernel.group(1) if kernel else target[0] if target else None
    if path is not None and not os.path.isfile(path):
        fail(f"{path}: no such file")
    arguments: dict[str, Any] = {}
    try:
        arguments = parse(list(options["args"]))
        if options["grid"] and not re.search(r"[A-Za-z]", options["grid"]):
            grid_of(options["grid"], {})
    except SynthesisError as error:
        fail(str(error))
    return Settings(
        mode="kernel" if kernel else "module" if module else "script",
        script=os.path.abspath(path) if path else "",
        module=module or "",
        kernel=kernel.group(2) if kernel else "",
        args=list(program) if module else list(target[1:]),
        arguments=arguments,
        grid=options["grid"],
        num_warps=options["num_warps"],
        everything=options["everything"],
        line=options["line"],
        counters=options["counters"],
        launches=options["launches"],
        timeout=options["timeout"],
        limit_bytes=int(options["memory"] * 10**9),
        device=options["device"],
        command=shlex.join(["coalesce-lint", *sys.argv[1:]]),
    )


def _conclude(outcome: Outcome, settings: Settings, options: dict[str, Any]) -> int:
    """Writes the files that were asked for, says what is to be said, and gives the exit code."""
    import json

    from coalesce_lint.verify import report
    from coalesce_lint.verify.emit import emit

    results = outcome.results
    for note in outcome.notes:
        complain(note)
    for key in ("counters",):
        if outcome.facts.get(key):
            complain(str(outcome.facts[key]))
    try:
        if options["json_file"] is not None:
            found = report.document(results, outcome.facts, settings.command, outcome.notes)
            options["json_file"].write_text(json.dumps(found, indent=1) + "\n")
        if options["emit_variant"] is not None:
            written = emit(outcome.variants, options["emit_variant"])
            if not written:
                complain(f"{options['emit_variant']}: not written, there is no variant")
    except OSError as error:
        complain(f"{error.filename}: {error.strerror or error}")
        return 2
    if outcome.failure:
        complain(outcome.failure)
        return 2
    good = [r for r in results if not r["verdict"].startswith("refused")]
    if not results:
        asked = (
            f"no access is on line {settings.line}"
            if settings.line
            else "no access is flagged (--all takes every one)"
        )
        complain(f"{asked} in {outcome.launches} launch{'es' if outcome.launches != 1 else ''}")
        return 2 if settings.line else 0
    if not good:
        complain("nothing could be verified")
        return 2
    if outcome.facts.get("gpu") is None:
        complain("no GPU: traffic is predicted, nothing was timed")
    limit = options["fail_above"]
    worst = max(
        (r["measured"]["ratio"] for r in good if r["measured"] and r["measured"]["slower"]), default=0.0
    )
    if limit is not None and worst > limit:
        complain(f"a slowdown of {worst:.2f}x is above {limit:g}")
        return 1
    return 0
