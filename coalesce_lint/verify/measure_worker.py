"""Times original and variant on the GPU, with equal work around each run. Runs as a subprocess.

Every written storage is restored before every run, outside the timed window; the L2 is flushed with twice
its size before every cold run; runs of a round come in random order: the original, the original again (A/A)
and the variant.
"""

from __future__ import annotations

import math
import sys
from typing import Any

from coalesce_lint.verify import stage
from coalesce_lint.verify.agreement import equal
from coalesce_lint.verify.arms import Arm, NotMeasured, arms_of
from coalesce_lint.verify.best import best_against_best
from coalesce_lint.verify.clock import SECONDS, Clock
from coalesce_lint.verify.statistics import median


class Bench:
    """Answers tasks: "facts" of the device, "measure" compares one variant, "best" the best configurations of
    both, "count" only runs both (under ncu)."""

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock = clock or Clock()
        self.torch = self.clock.torch

    def __call__(self, task: dict[str, Any]) -> dict[str, Any]:
        if task["mode"] == "facts":
            return self.facts()
        try:
            return best_against_best(self.clock, task) if task["mode"] == "best" else self.measure(task)
        except NotMeasured as error:
            return {"refused": str(error)}
        except self.torch.cuda.OutOfMemoryError:
            return {"refused": "not enough memory on the GPU"}

    def facts(self) -> dict[str, Any]:
        import triton

        torch = self.torch
        return {
            "device": torch.cuda.get_device_name(0),
            "l2_bytes": self.clock.l2_bytes,
            "copy_gbps": round(self.clock.copy_ceiling(), 1),
            "versions": {
                "torch": torch.__version__,
                "triton": triton.__version__,
                "cuda": torch.version.cuda,
                "python": sys.version.split()[0],
            },
        }

    def measure(self, task: dict[str, Any]) -> dict[str, Any]:
        a, b = arms_of(task["folder"], [task["original"], task["variant"]], task["written"])
        proxy = bool(task.get("proxy"))
        note = None if proxy else equal(a, b, task["written"])
        self.torch.cuda.synchronize()
        if task["mode"] == "count":
            return {"outputs_equal": True}
        clock = self.clock
        measured = clock.compare(a, b)
        warm = clock.pairs(clock.warm, a, b, seconds=SECONDS / 4)
        before, after = measured["before_us"], measured["after_us"]
        passes = 0.0 if proxy else self.permuting(b, task["written"])
        saved = before - after
        return {
            "outputs_equal": not proxy,
            "note": note,
            "measured": {
                **measured,
                "warm_before_us": round(median(warm["before"]), 2),
                "warm_ratio": round(median(warm["before"]) / median(warm["after"]), 4),
                "before_gbps": round(task["bytes_moved"] / before / 1e3, 1),
                "after_gbps": round(task["bytes_moved"] / after / 1e3, 1),
                "copy_gbps": round(clock.copy_ceiling(), 1),
            },
            "permute_us": round(passes, 2),
            "pays_after_launches": math.ceil(passes / saved) if saved > 0 and measured["low"] > 1 else None,
            "resources": {"before": a.resources(), "after": b.resources()},
        }

    def permuting(self, b: Arm, written: list[int]) -> float:
        """Microseconds of the permuting pass, and of the way back for what the kernel writes."""
        storages = [(k, s) for k, s in enumerate(b.launch["storages"]) if "permuted_from" in s]

        def there_and_back() -> None:
            for number, storage in storages:
                b.memory.permute(number)
                if storage["permuted_from"] in written and not storage.get("copy"):
                    permutation, source, target = b.memory.views(number)
                    permutation.restore(target, source)

        times = []
        for _ in range(8):
            self.clock.flush()
            times.append(self.clock.timed(there_and_back))
        return median(times[2:])


if __name__ == "__main__":
    stage.serve(Bench)
