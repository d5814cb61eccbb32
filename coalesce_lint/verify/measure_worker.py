"""Times original and variant on the GPU, with equal work around each run. Runs as a subprocess.

Every written storage is restored before every run, outside the timed window; the L2 is flushed with twice
its size before every cold run; runs of a round come in random order: the original, the original again (A/A)
and the variant.
"""

from __future__ import annotations

import math
import random
import sys
import time
from pathlib import Path
from typing import Any

from coalesce_lint.verify import closure, stage
from coalesce_lint.verify.memory import ALIGNMENT, MARGIN, Memory, aligned_view, values
from coalesce_lint.verify.plan import tensors
from coalesce_lint.verify.statistics import median, ratio_of_medians

#: Clock cycles that the GPU waits before a timed run, so that the launch is queued by then.
WAIT_CYCLES = 400_000
#: Seconds that one comparison may take at most; rounds at least and at most.
SECONDS = 2.0
ROUNDS = (15, 120)
#: Floating-point outputs may differ by so many units in the last place of the largest value: a variant has
#: another
#: layout, so that sums across lanes are taken in another order.
ROUNDING_STEPS = 64


class NotMeasured(RuntimeError):
    """A comparison that cannot be made; ``str()`` is the reason."""


class Slots:
    """Buffers on the GPU that both kernels run in, one for each storage of the original.

    A permuted storage uses the buffer of what it was made of: which addresses a tensor happens to get has an
    effect of its own on time.
    """

    def __init__(self, arms: list[dict[str, Any]]) -> None:
        import torch

        sizes: dict[int, int] = {}
        for launch in arms:
            for number, storage in enumerate(launch["storages"]):
                slot = slot_of(launch, number)
                sizes[slot] = max(sizes.get(slot, 0), storage["bytes"])
        self.whole = {
            slot: torch.zeros(size + 2 * MARGIN + 2 * ALIGNMENT, dtype=torch.uint8, device="cuda")
            for slot, size in sizes.items()
        }

    def view(self, slot: int, size: int, modulo: int) -> Any:
        """The buffer's part for a storage that lies at ``modulo`` past a multiple of 512 bytes."""
        whole = self.whole[slot]
        start = MARGIN + (modulo - (whole.data_ptr() + MARGIN)) % ALIGNMENT
        return whole[start : start + size]


def slot_of(launch: dict[str, Any], number: int) -> int:
    """The buffer of a storage; a split copy has one of its own."""
    storage = launch["storages"][number]
    if "permuted_from" in storage and not storage.get("copy"):
        return int(storage["permuted_from"])
    return number


class Arm:
    """One kernel with the pristine contents of its memory (``memory``) and the buffers it runs in
    (``live``)."""

    def __init__(
        self, folder: Path, task: dict[str, Any], slots: Slots, changing: set[int], like: Arm | None
    ) -> None:
        self.launch = task["launch"]
        self.kernel = closure.load(task["path"])
        self.memory: Memory = Memory(folder, self.launch, "cuda", None if like is None else like.memory)
        self.options = dict(self.launch["options"])
        moved = {
            s["permuted_from"] for s in self.launch["storages"] if "permuted_from" in s and not s.get("copy")
        }
        self.live = {
            k: slots.view(slot_of(self.launch, k), s["bytes"], s["address"] % ALIGNMENT)
            for k, s in enumerate(self.launch["storages"])
            if k not in moved
        }
        self.changing = [k for k in self.live if slot_of(self.launch, k) in changing]
        for number, buffer in self.live.items():
            buffer.copy_(self.memory.flat[number])
        self.values = values(self.launch, lambda k: int(self.live[k].data_ptr()))
        self.compiled: Any = None

    def restore(self) -> None:
        """Fills the buffers that either kernel changes, or that hold other contents for the other kernel."""
        for number in self.changing:
            self.live[number].copy_(self.memory.flat[number])

    def run(self) -> None:
        self.compiled = self.kernel[tuple(self.launch["grid"])](**self.values, **self.options)

    def outputs(self, written: list[int]) -> dict[int, Any]:
        """What the kernel left in each written storage of the original, permuted ones put back in order."""
        found = {}
        for number, storage in enumerate(self.launch["storages"]):
            source = storage.get("permuted_from")
            if source in written and not storage.get("copy"):
                whole = self.memory.flat[source].clone()
                permutation, target, permuted = self.memory.views_of(storage, whole, self.live[number])
                permutation.restore(permuted, target)
                found[source] = whole
            elif number in written and number in self.live:
                found[number] = self.live[number].clone()
        return found

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

    def __call__(self, task: dict[str, Any]) -> dict[str, Any]:
        if task["mode"] == "facts":
            return self.facts()
        try:
            return self.measure(task)
        except NotMeasured as error:
            return {"refused": str(error)}
        except self.torch.cuda.OutOfMemoryError:
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
        folder = Path(task["folder"])
        launches = [task[name]["launch"] for name in ("original", "variant")]
        self.torch.cuda.empty_cache()
        self.check_room(3 * sum(s["bytes"] for s in launches[1]["storages"]))
        slots = Slots(launches)
        changing = {
            slot_of(launches[1], k) for k, s in enumerate(launches[1]["storages"]) if "permuted_from" in s
        }
        changing |= set(task["written"])
        a = Arm(folder, task["original"], slots, changing, None)
        return a, Arm(folder, task["variant"], slots, changing, a)

    def check_room(self, need: int) -> None:
        free = self.torch.cuda.mem_get_info()[0]
        if need > free:
            raise NotMeasured(
                f"not enough memory on the GPU: {need / 1e9:.1f} GB are needed, {free / 1e9:.1f} are free"
            )

    def measure(self, task: dict[str, Any]) -> dict[str, Any]:
        a, b = self.arms(task)
        proxy = bool(task.get("proxy"))
        note = None if proxy else self.equal(a, b, task["written"])
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
        passes = 0.0 if proxy else self.permuting(b, task["written"])
        saved = before - after
        return {
            "outputs_equal": not proxy,
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
        """Times of the original, of the original again, and of the variant, round by round in random
        order."""
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

    def equal(self, a: Arm, b: Arm, written: list[int]) -> str | None:
        """Runs both over the whole grid and compares what they leave in memory; a note where it is equal to
        rounding only. Raises NotMeasured where it is not equal."""
        first = self.result(a, written)
        second = self.result(b, written)
        different = [k for k in written if not bool((first[k] == second[k]).all())]
        if not different:
            return None
        worst = max(self.distance(a, first[k], second[k], k) for k in different)
        again = self.result(a, written)
        varies = any(not bool((first[k] == again[k]).all()) for k in different)
        why = (
            "the original's own outputs vary from run to run"
            if varies
            else "another layout adds in another order"
        )
        return f"outputs equal to rounding, {worst:.0e} of the largest value: {why}"

    def result(self, arm: Arm, written: list[int]) -> dict[int, Any]:
        arm.restore()
        arm.run()
        self.torch.cuda.synchronize()
        return arm.outputs(written)

    def distance(self, a: Arm, first: Any, second: Any, number: int) -> float:
        """The largest difference in units of the largest value. Raises NotMeasured where that is not
        rounding."""
        torch = self.torch
        kinds = {s["dtype"] for _, s in tensors(a.launch) if s["storage"] == number}
        kind = getattr(torch, next(iter(kinds)))
        if len(kinds) != 1 or not kind.is_floating_point:
            raise NotMeasured("outputs differ on the GPU")
        x, y = (aligned_view(v, kind).to(torch.float64) for v in (first, second))
        finite = x.isfinite() & y.isfinite()
        if bool(
            (torch.where(finite, 0.0, x).nan_to_num(1.5) != torch.where(finite, 0.0, y).nan_to_num(1.5)).any()
        ):
            raise NotMeasured("outputs differ on the GPU: other elements are infinite or no number")
        apart = float(torch.where(finite, (x - y).abs(), 0.0).max())
        scale = float(torch.where(finite, x.abs(), 0.0).max()) or 1.0
        if apart > ROUNDING_STEPS * torch.finfo(kind).eps * scale:
            raise NotMeasured(f"outputs differ on the GPU, by {apart / scale:.1e} of the largest value")
        return apart / scale

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
            self.flush()
            times.append(self.timed(there_and_back))
        return median(times[2:])


if __name__ == "__main__":
    stage.serve(Bench)
