"""Times what runs on the GPU: cold and warm runs, rounds in random order, and what a copy reaches."""

from __future__ import annotations

import random
import time
from typing import Any

from coalesce_lint.verify.arms import Arm
from coalesce_lint.verify.statistics import median, ratio_of_medians

#: Clock cycles that the GPU waits before a timed run, so that the launch is queued by then.
WAIT_CYCLES = 400_000
#: Seconds that one comparison may take at most; rounds at least and at most.
SECONDS = 2.0
ROUNDS = (15, 120)


class Clock:
    """Runs and times arms. Times in microseconds."""

    def __init__(self) -> None:
        import torch

        torch.cuda.init()
        self.torch = torch
        properties = torch.cuda.get_device_properties(0)
        self.l2_bytes = int(getattr(properties, "L2_cache_size", 64 * 2**20))
        self.flush_buffer: Any = None
        self.ceiling: float | None = None

    def copy_ceiling(self) -> float:
        """What a plain copy reaches, in GB/s of bytes read and written."""
        if self.ceiling is None:
            torch = self.torch
            size = min(2**30, torch.cuda.mem_get_info()[0] // 4)
            a = torch.zeros(size, dtype=torch.uint8, device="cuda")
            b = torch.empty_like(a)
            times = [self.timed(lambda: b.copy_(a)) for _ in range(12)]
            self.ceiling = 2 * size / median(times[2:]) / 1e3
        return self.ceiling

    def flush(self) -> None:
        """Overwrites twice the size of the L2."""
        torch = self.torch
        if self.flush_buffer is None:
            self.flush_buffer = torch.zeros(2 * self.l2_bytes // 4, dtype=torch.int32, device="cuda")
        self.flush_buffer.add_(1)

    def timed(self, function: Any) -> float:
        """Microseconds of what ``function`` queues, by events around it."""
        torch = self.torch
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(WAIT_CYCLES)
        start.record()
        function()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end)) * 1e3

    def cold(self, arm: Arm) -> float:
        arm.restore()
        self.flush()
        return self.timed(arm.run)

    def warm(self, arm: Arm) -> float:
        arm.restore()
        arm.run()
        return self.timed(arm.run)

    def compare(self, a: Arm, b: Arm) -> dict[str, Any]:
        """Cold times of both, the ratio with its 95 % interval, and that of the original against itself."""
        pairs = self.pairs(self.cold, a, b)
        again, low_aa, high_aa = ratio_of_medians(pairs["again"], pairs["before"])
        if not low_aa <= 1 <= high_aa:
            more = self.pairs(self.cold, a, b)
            pairs = {k: pairs[k] + more[k] for k in pairs}
            again, low_aa, high_aa = ratio_of_medians(pairs["again"], pairs["before"])
        ratio, low, high = ratio_of_medians(pairs["before"], pairs["after"])
        return {
            "before_us": round(median(pairs["before"]), 2), "after_us": round(median(pairs["after"]), 2),
            "ratio": round(ratio, 4), "low": round(low, 4), "high": round(high, 4),
            "aa": round(again, 4), "aa_low": round(low_aa, 4), "aa_high": round(high_aa, 4),
            "rounds": len(pairs["before"]),
            "slower": bool(low > 1.05 and low_aa <= 1 <= high_aa),
        }  # fmt: skip

    def pairs(self, timing: Any, a: Arm, b: Arm, seconds: float = SECONDS) -> dict[str, list[float]]:
        """Times of the original, of the original again, and of the variant."""
        return self.rounds(timing, {"before": a, "again": a, "after": b}, seconds, ROUNDS)

    def rounds(
        self, timing: Any, arms: dict[Any, Arm], seconds: float, least_and_most: tuple[int, int]
    ) -> dict[Any, list[float]]:
        """Times of each arm, round by round, each round in a random order of its own."""
        for arm in {id(arm): arm for arm in arms.values()}.values():
            timing(arm)
        chance = random.Random(1)
        found: dict[Any, list[float]] = {name: [] for name in arms}
        least, most = least_and_most
        begun = time.monotonic()
        for done in range(most):
            if done >= least and time.monotonic() - begun > seconds:
                break
            names = list(arms)
            chance.shuffle(names)
            for name in names:
                found[name].append(timing(arms[name]))
        return found
