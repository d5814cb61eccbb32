"""Times original and variant on the GPU, with equal work around each run. Runs as a subprocess.

Every written storage is restored before every run, outside the timed window; the L2 is flushed with twice its size before
every cold run; runs of a round come in random order: the original, the original again (A/A) and the variant.
"""

from __future__ import annotations

import math
import random
import sys
import time
from pathlib import Path
from typing import Any

from coalesce_lint.verify import closure, stage
from coalesce_lint.verify.memory import Memory
from coalesce_lint.verify.statistics import median, ratio_of_medians

#: Clock cycles that the GPU waits before a timed run, so that the launch is queued by then.
WAIT_CYCLES = 400_000
#: Seconds that one comparison may take at most; rounds at least and at most.
SECONDS = 4.0
ROUNDS = (15, 200)
#: An original that differs from itself from run to run is compared to within this.
TOLERANCE = 1e-2


class NotMeasured(RuntimeError):
    """A comparison that cannot be made; ``str()`` is the reason."""


class Arm:
    """One kernel with its memory on the GPU and pristine copies of what it writes."""

    def __init__(self, folder: Path, task: dict[str, Any], written: list[int]) -> None:
        import torch

        self.launch = task["launch"]
        self.kernel = closure.load(task["path"])
        self.memory = Memory(folder, self.launch, "cuda")
        self.values = self.memory.values()
        self.options = dict(self.launch["options"])
        moved = {
            k
            for k, s in enumerate(self.launch["storages"])
            if s.get("permuted_from") in written and not s.get("copy")
        }
        self.written = sorted({*written, *moved})
        self.pristine = {k: self.memory.flat[k].clone() for k in self.written}
        self.compiled: Any = None
        torch.cuda.synchronize()

    def restore(self) -> None:
        for number, copy in self.pristine.items():
            self.memory.flat[number].copy_(copy)

    def run(self) -> None:
        self.compiled = self.kernel[tuple(self.launch["grid"])](**self.values, **self.options)

    def resources(self) -> dict[str, Any]:
        compiled = self.compiled
        return {
            "registers": getattr(compiled, "n_regs", None),
            "spills": getattr(compiled, "n_spills", None),
            "shared_bytes": getattr(getattr(compiled, "metadata", None), "shared", None),
        }


class Bench:
    """Answers tasks: "start" warms up, "measure" compares one variant, "count" only runs both (under ncu)."""

    def __init__(self) -> None:
        import torch

        torch.cuda.init()
        self.torch = torch
        properties = torch.cuda.get_device_properties(0)
        self.l2_bytes = int(getattr(properties, "L2_cache_size", 64 * 2**20))
        self.flush_buffer: Any = None
        self.ceiling: float | None = None
        self.original: tuple[str, Arm] | None = None

    def __call__(self, task: dict[str, Any]) -> dict[str, Any]:
        if task["mode"] == "facts":
            return self.facts()
        try:
            return self.measure(task)
        except NotMeasured as error:
            return {"refused": str(error)}
        except self.torch.cuda.OutOfMemoryError:
            self.original = None
            return {"refused": "not enough memory on the GPU"}

    def facts(self) -> dict[str, Any]:
        import triton

        torch = self.torch
        return {
            "device": torch.cuda.get_device_name(0),
            "l2_bytes": self.l2_bytes,
            "copy_gbps": round(self.copy_ceiling(), 1),
            "versions": {
                "torch": torch.__version__,
                "triton": triton.__version__,
                "cuda": torch.version.cuda,
                "python": sys.version.split()[0],
            },
        }

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

    def arms(self, task: dict[str, Any]) -> tuple[Arm, Arm]:
        torch = self.torch
        folder = Path(task["folder"])
        key = task["original"]["path"] + task["original"]["launch"]["file"]
        need = 3 * sum(s["bytes"] for s in task["variant"]["launch"]["storages"])
        if self.original is None or self.original[0] != key:
            self.original = None
            torch.cuda.empty_cache()
            self.check_room(need)
            self.original = (key, Arm(folder, task["original"], task["written"]))
        else:
            self.check_room(need // 2)
        return self.original[1], Arm(folder, task["variant"], task["written"])

    def check_room(self, need: int) -> None:
        free = self.torch.cuda.mem_get_info()[0]
        if need > free:
            raise NotMeasured(
                f"not enough memory on the GPU: {need / 1e9:.1f} GB are needed, {free / 1e9:.1f} are free"
            )

    def measure(self, task: dict[str, Any]) -> dict[str, Any]:
        a, b = self.arms(task)
        note = self.equal(a, b)
        self.torch.cuda.synchronize()
        if task["mode"] == "count":
            return {"outputs_equal": True}
        pairs = self.rounds(self.cold, a, b)
        again, low_aa, high_aa = ratio_of_medians(pairs["again"], pairs["before"])
        if not low_aa <= 1 <= high_aa:
            more = self.rounds(self.cold, a, b)
            pairs = {k: pairs[k] + more[k] for k in pairs}
            again, low_aa, high_aa = ratio_of_medians(pairs["again"], pairs["before"])
        ratio, low, high = ratio_of_medians(pairs["before"], pairs["after"])
        warm = self.rounds(self.warm, a, b, seconds=SECONDS / 4)
        before, after = median(pairs["before"]), median(pairs["after"])
        passes = self.permuting(b)
        saved = before - after
        return {
            "outputs_equal": True,
            "note": note,
            "measured": {
                "before_us": round(before, 2), "after_us": round(after, 2), "ratio": round(ratio, 4),
                "low": round(low, 4), "high": round(high, 4),
                "warm_before_us": round(median(warm["before"]), 2),
                "warm_ratio": round(median(warm["before"]) / median(warm["after"]), 4),
                "aa": round(again, 4), "aa_low": round(low_aa, 4), "aa_high": round(high_aa, 4),
                "rounds": len(pairs["before"]),
                "slower": bool(low > 1.05 and low_aa <= 1 <= high_aa),
                "before_gbps": round(task["bytes_moved"] / before / 1e3, 1),
                "after_gbps": round(task["bytes_moved"] / after / 1e3, 1),
                "copy_gbps": round(self.copy_ceiling(), 1),
            },
            "permute_us": round(passes, 2),
            "pays_after_launches": math.ceil(passes / saved) if saved > 0 and low > 1 else None,
            "resources": {"before": a.resources(), "after": b.resources()},
        }  # fmt: skip

    def rounds(self, timing: Any, a: Arm, b: Arm, seconds: float = SECONDS) -> dict[str, list[float]]:
        """Times of the original, of the original again, and of the variant, round by round in random order."""
        arms = {"before": a, "again": a, "after": b}
        for arm in (a, b):
            timing(arm)
        chance = random.Random(1)
        found: dict[str, list[float]] = {name: [] for name in arms}
        begun = time.monotonic()
        while len(found["after"]) < ROUNDS[1]:
            names = list(arms)
            chance.shuffle(names)
            for name in names:
                found[name].append(timing(arms[name]))
            if time.monotonic() - begun > seconds and len(found["after"]) >= ROUNDS[0]:
                break
        return found

    def equal(self, a: Arm, b: Arm) -> str | None:
        """Runs both over the whole grid and compares what they leave in memory. Raises NotMeasured."""
        for arm in (a, b):
            arm.restore()
        b.memory_originals = self.originals(b)  # type: ignore[attr-defined]
        a.run()
        b.run()
        self.torch.cuda.synchronize()
        b.memory.restore_original()
        different = [k for k in a.written if k < len(a.memory.flat) and not self.same(a, b, k)]
        note = None
        if different:
            first = {k: a.memory.flat[k].clone() for k in different}
            a.restore()
            a.run()
            self.torch.cuda.synchronize()
            if all(bool((a.memory.flat[k] == first[k]).all()) for k in different):
                raise NotMeasured("outputs differ on the GPU")
            for k in different:
                if not self.close(a, first[k], b.memory.flat[k], k):
                    raise NotMeasured(
                        "outputs vary from run to run (atomics) and differ by more than rounding"
                    )
            note = "outputs vary from run to run (atomics); equal to rounding"
        for k, copy in b.memory_originals.items():  # type: ignore[attr-defined]
            b.memory.flat[k].copy_(copy)
        return note

    def originals(self, b: Arm) -> dict[int, Any]:
        sources = {
            s["permuted_from"] for s in b.launch["storages"] if "permuted_from" in s and not s.get("copy")
        }
        return {k: b.memory.flat[k].clone() for k in sources}

    def same(self, a: Arm, b: Arm, number: int) -> bool:
        return bool((a.memory.flat[number] == b.memory.flat[number]).all())

    def close(self, a: Arm, first: Any, second: Any, number: int) -> bool:
        from coalesce_lint.verify.memory import aligned_view
        from coalesce_lint.verify.plan import tensors

        torch = self.torch
        kinds = {s["dtype"] for _, s in tensors(a.launch) if s["storage"] == number}
        if len(kinds) != 1:
            return False
        kind = getattr(torch, kinds.pop())
        if not kind.is_floating_point:
            return False
        x, y = aligned_view(first, kind).float(), aligned_view(second, kind).float()
        scale = float(x.abs().nan_to_num(0, 0, 0).max()) or 1.0
        return bool(torch.allclose(x, y, rtol=TOLERANCE, atol=TOLERANCE * scale, equal_nan=True))

    def permuting(self, b: Arm) -> float:
        """Microseconds of the permuting pass, and of the way back for what the kernel writes."""
        numbers = [k for k, s in enumerate(b.launch["storages"]) if "permuted_from" in s]

        def there_and_back() -> None:
            for k in numbers:
                b.memory.permute(k)
                if k in b.written:
                    permutation, source, target = b.memory.views(k)
                    permutation.restore(target, source)

        times = []
        for _ in range(8):
            self.flush()
            times.append(self.timed(there_and_back))
        return median(times[2:])


if __name__ == "__main__":
    stage.serve(Bench)
