"""Compares the static model of layouts with the compiler on generated kernels.

Usage: ``python benchmarks/layout_differential.py [--count 600] [--seed 1] [-v]``, with the installed
Triton. Compared for every memory operation: the axis order and the elements a thread of its layout (all
bases of it, in fact), and the elements of one instruction. A kernel agrees when all its operations do.
Disagreements are listed with the kernel.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from generated_kernels import Generated, generate, source

from coalesce_lint.hardware.layout import MemoryOp, vector_elements
from coalesce_lint.hardware.linear_layout import LinearLayout
from coalesce_lint.hardware.operations import memory_ops
from coalesce_lint.kernels.modules import Resolver
from coalesce_lint.kernels.source import Module, read_module
from coalesce_lint.pins import installed_profile, make_pins
from coalesce_lint.twin import twin_kernel
from coalesce_lint.verify.compiled import compile_kernels
from coalesce_lint.verify.request import Request


@dataclass
class Row:
    """One kernel's comparison: how many operations were compared, and what disagrees in words."""

    kernel: Generated
    compared: int = 0
    wrong: list[str] = field(default_factory=list)
    skipped: str | None = None


def requests_of(kernels: list[Generated], path: Path) -> list[Request]:
    return [
        Request(str(path), k.name, k.arguments, (64, 64, 4), k.num_warps, arch=k.arch, options={})
        for k in kernels
    ]


def modelled(module: Module, kernel: Generated, profile: str) -> list[MemoryOp]:
    """The model's memory operations, in the order of the source."""
    arguments = [f"{n}={v}" for n, v in kernel.arguments.items()]
    pins = make_pins(arguments, "64,64,4", kernel.num_warps, profile, f"sm{kernel.arch}")
    function = next(f for f in module.all_functions if f.name == kernel.name)
    twin, launch = twin_kernel(function, Resolver(), pins)
    return [op for op in memory_ops(twin.accesses, launch) if op is not None]


def compiled_layout(operation: dict[str, Any]) -> LinearLayout | None:
    if operation["layout"] is None:
        return None
    register, lane, warp = (tuple(map(tuple, bases)) for bases in operation["layout"])
    return LinearLayout(tuple(operation["shape"]), register, lane, warp)


def compare(kernel: Generated, answer: dict[str, Any], ops: list[MemoryOp]) -> Row:
    """Pairs operations by the place of their call; those of a pipelined loop's prologue stand for one."""
    row = Row(kernel)
    if "error" in answer:
        row.skipped = answer["error"][:200]
        return row
    found: dict[tuple[int, int], dict[str, Any]] = {}
    for operation in answer["operations"]:
        place = (operation["places"][0][1], operation["places"][0][2])
        if place not in found or operation["depth"] > found[place]["depth"]:
            found[place] = operation
    for op in ops:
        place = (op.origin.place.line, op.origin.place.column)
        operation = found.get(place)
        if operation is None or not operation["emitted"]:
            continue
        row.compared += 1
        layout = compiled_layout(operation)
        where = f"line {place[0]} {op.kind} {op.shape} x{op.element_bytes}"
        if (layout is None) != (op.layout is None):
            row.wrong.append(f"{where}: scalar or not")
            continue
        if layout is None or op.layout is None:
            continue
        vector = vector_elements(op, layout)
        if layout != op.layout and layout not in op.copies:
            row.wrong.append(
                f"{where}: layout {short(op.layout)}, compiled {short(layout)} {operation['encoding'][:70]}"
            )
        elif vector != operation["vector"]:
            row.wrong.append(f"{where}: vector {vector}, compiled {operation['vector']}")
    return row


def short(layout: LinearLayout) -> str:
    return f"r{list(layout.register)} l{list(layout.lane)} w{list(layout.warp)}".replace(" ", "")


def run(count: int, seed: int, profile: str | None = None, kept: Path | None = None) -> list[Row]:
    """Generates, compiles and compares ``count`` kernels. ``kept`` holds the compiler's answers of an
    earlier run."""
    kernels = generate(count, seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "generated.py")
        text = source(kernels)
        path.write_text(text)
        if kept is not None and kept.exists():
            answers = json.loads(kept.read_text())
        else:
            requests = requests_of(kernels, path)
            answers = compile_kernels(requests, machine_code=False)
            if kept is not None:
                kept.write_text(json.dumps(answers))
        module = read_module(text, str(path))
        rows = []
        for kernel, answer in zip(kernels, answers, strict=True):
            try:
                ops = modelled(module, kernel, profile or installed_profile())
            except Exception as error:  # the harness must go on and say so
                rows.append(Row(kernel, wrong=[f"model failed: {type(error).__name__}: {error}"]))
                continue
            rows.append(compare(kernel, answer, ops))
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-v", action="store_true", help="print the text of kernels that disagree")
    parser.add_argument(
        "--answers", type=Path, help="keep the compiler's answers in this file, or take them from it"
    )
    options = parser.parse_args()
    rows = run(options.count, options.seed, kept=options.answers)
    skipped = [r for r in rows if r.skipped]
    judged = [r for r in rows if not r.skipped and (r.compared or r.wrong)]
    agree = [r for r in judged if not r.wrong]
    for row in judged:
        if row.wrong:
            launch = f"warps {row.kernel.num_warps} sm{row.kernel.arch}"
            print(f"--- {row.kernel.name} {launch} {row.kernel.features}")
            print("\n".join(row.wrong))
            if options.v:
                print(row.kernel.text, row.kernel.arguments)
    reasons = Counter((r.skipped or "")[:90] for r in skipped)
    for reason, number in reasons.most_common(8):
        print(f"not compiled: {number} x {reason}")
    share = len(agree) / max(len(judged), 1)
    print(
        f"triton {version('triton')}: {len(agree)}/{len(judged)} kernels agree ({100 * share:.1f}%), "
        f"{sum(r.compared for r in judged)} operations; {len(skipped)} kernels did not compile"
    )
    return 0 if share >= 0.98 else 1


if __name__ == "__main__":
    sys.exit(main())
