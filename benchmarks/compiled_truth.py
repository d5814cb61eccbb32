"""Compares what ``explain --compiled`` says with hardware counters.

Usage: ``python benchmarks/compiled_truth.py [TRUTH.json] [-v]``; by default the truth of the installed
Triton's minor version, else of the nearest. A direction (loads or stores of a launch) agrees when sectors
per request and requests are both within 3 %. Loads that gather lane by lane depend on data and are left out.
Only what ``explain`` pairs with an access that it read counts: a site that it would not show is a fault.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from coalesce_lint.engine import analyze_text
from coalesce_lint.pins import make_pins
from coalesce_lint.verify.compiled import Prediction, predict
from coalesce_lint.verify.request import Request
from coalesce_lint.verify.sidebyside import access_key, site_key

DATA = Path(__file__).resolve().parents[1] / "tests" / "data" / "truth"
TYPES = {
    "float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "float64": "fp64",
    "int8": "i8", "int32": "i32", "int64": "i64",
}  # fmt: skip
TOLERANCE = 0.03


def truth_file() -> Path:
    """The counters of the installed Triton: 3.9 and later share one set, earlier versions the other."""
    major, minor = map(int, version("triton").split(".")[:2])
    return DATA / ("h200_triton39.json" if (major, minor) >= (3, 9) else "h200_triton36.json")


def request_of(case: dict[str, Any], kernels: Path = DATA / "kernels.py", programs: int = 24) -> Request:
    """The request of a launch in the truth files."""
    arguments: dict[str, Any] = {n: v for n, v in case["consts"].items() if n != "num_warps"}
    for (name, value), offset in zip(case["args"].items(), case["base_mod16"], strict=True):
        arguments[name] = f"*{TYPES[value[1:]]}:{offset or 16}" if isinstance(value, str) else value
    return Request(
        path=str(kernels),
        kernel=case["kernel"],
        arguments=arguments,
        grid=tuple(case["grid"]),
        num_warps=case["consts"].get("num_warps"),
        arch=90,
        programs=programs,
    )


def shown(prediction: Prediction, text: str) -> Prediction:
    """The prediction with those sites only that ``explain --compiled`` shows beside an access."""
    request = prediction.request
    pins = make_pins(
        [f"{n}={v}" for n, v in request.arguments.items()],
        ",".join(map(str, request.grid or ())) or None,
        request.num_warps,
        arch=f"sm{request.arch}",
    )
    kernels = analyze_text(text, request.path, pins).kernels
    accesses = [a for k in kernels if k.name == request.kernel for a in k.accesses]
    keys = {access_key(a) for a in accesses}
    return replace(prediction, sites=[s for s in prediction.sites if site_key(s) in keys])


def compare(case: dict[str, Any], prediction: Prediction) -> list[tuple[str, bool, str]]:
    """(direction, agrees, what was measured and predicted) for each direction of a launch."""
    rows = []
    for direction, kind in (("ld", "load"), ("st", "store")):
        requests = case[f"{direction}_requests"]
        if not requests or (case["kernel"] == "lane_gather" and direction == "ld"):
            continue
        truth = case[f"{direction}_sectors"] / requests
        if prediction.error:
            rows.append((direction, False, prediction.error))
            continue
        sectors, predicted = prediction.total(kind)
        ratio = sectors / predicted if predicted else 0.0
        good = abs(ratio - truth) <= TOLERANCE * truth and abs(predicted - requests) <= TOLERANCE * requests
        text = f"measured {truth:.2f} x {requests:.0f}, predicted {ratio:.2f} x {predicted:.0f}"
        rows.append((direction, good, text))
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("truth", nargs="?", type=Path, default=None)
    parser.add_argument("-v", action="store_true", help="list every direction")
    options = parser.parse_args()
    cases = json.loads((options.truth or truth_file()).read_text())
    agree = total = 0
    predictions = predict([request_of(c) for c in cases])
    source = (DATA / "kernels.py").read_text()
    for case, prediction in zip(cases, predictions, strict=True):
        for direction, good, text in compare(case, shown(prediction, source)):
            total += 1
            agree += good
            if options.v or not good:
                print("ok " if good else "OFF", case["case"], direction, text)
    share = f"{agree}/{total} directions agree within 3% ({100 * agree / total:.1f}%)"
    print(f"triton {predictions[0].triton}: {share}")
    return 0 if agree / total >= 0.98 else 1


if __name__ == "__main__":
    sys.exit(main())
