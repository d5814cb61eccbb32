"""Compares requests and sectors of the static model with those of the compiled oracle on generated kernels.

Usage: ``python benchmarks/cost_differential.py [--count 100] [--seed 1] [-v]``, with the installed Triton.
An access agrees when requests and sectors over the grid are both within 3 %; accesses whose addresses come
from loaded values are left out, for both sides make these up.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from generated_kernels import Generated, generate, source

from coalesce_lint.hardware.cost import cost_of_kernel
from coalesce_lint.pins import installed_profile, make_pins
from coalesce_lint.twin import twin_kernels
from coalesce_lint.verify.compiled import Prediction, predict
from coalesce_lint.verify.request import Request

GRID = (3, 2, 2)
TOLERANCE = 0.03


def compare(kernel: Generated, prediction: Prediction, text: str, path: str) -> list[tuple[bool, str]]:
    """(agrees, in words) for each access that both sides count."""
    arguments = [f"{n}={v}" for n, v in kernel.arguments.items()]
    pins = make_pins(
        arguments, ",".join(map(str, GRID)), kernel.num_warps, installed_profile(), f"sm{kernel.arch}"
    )
    twin, launch = twin_kernels(text, path, pins, kernel.name)[0]
    cost_of_kernel(twin, launch)
    sites = {(s.kind, s.places[0][1], s.places[0][2]): s for s in prediction.sites}
    warps = kernel.num_warps * math.prod(GRID)
    rows = []
    for access in twin.accesses:
        kind = "atomic" if access.is_atomic else "store" if access.is_write else "load"
        site = sites.get((kind, access.place.line, access.place.column))
        if site is None or site.data_dependent or not site.operations or not site.requests:
            continue
        where = f"line {access.place.line} {access.op}"
        cost = access.cost
        if cost is None or cost.sectors_per_request is None:
            rows.append((False, f"{where}: no cost ({cost})"))
            continue
        trips = site.executions / math.prod(GRID)
        requests = cost.requests_per_warp * warps * trips
        sectors = requests * cost.sectors_per_request
        good = all(
            abs(a - b) <= TOLERANCE * b for a, b in ((requests, site.requests), (sectors, site.sectors))
        )
        measured = f"{site.sectors / site.requests:.2f} x {site.requests:.0f}"
        rows.append(
            (good, f"{where}: model {cost.sectors_per_request:.2f} x {requests:.0f}, compiled {measured}")
        )
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-v", action="store_true", help="print the text of kernels that disagree")
    options = parser.parse_args()
    kernels = generate(options.count, options.seed)
    agree = total = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "generated.py")
        text = source(kernels)
        path.write_text(text)
        requests = [
            Request(str(path), k.name, k.arguments, GRID, k.num_warps, arch=k.arch, programs=60)
            for k in kernels
        ]
        for kernel, prediction in zip(kernels, predict(requests), strict=True):
            if prediction.error:
                failed += 1
                print(f"--- {kernel.name} failed: {prediction.error[:200]}")
                continue
            rows = compare(kernel, prediction, text, str(path))
            total += len(rows)
            agree += sum(good for good, _ in rows)
            if not all(good for good, _ in rows):
                print(f"--- {kernel.name} {kernel.features}")
                print("\n".join(words for good, words in rows if not good))
                if options.v:
                    print(kernel.text, kernel.arguments)
    share = 100 * agree / max(total, 1)
    words = f"{agree}/{total} accesses agree within 3% ({share:.1f}%); {failed} failed"
    print(f"triton {version('triton')}: {words}")
    return 0 if share >= 97 else 1


if __name__ == "__main__":
    sys.exit(main())
