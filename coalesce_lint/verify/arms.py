"""One kernel of a comparison with its memory on the GPU, and the buffers that all kernels of it run in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coalesce_lint.verify import closure
from coalesce_lint.verify.memory import ALIGNMENT, MARGIN, Memory, values


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


def check_room(need: int) -> None:
    """Raises NotMeasured where fewer than ``need`` bytes of the GPU's memory are free."""
    import torch

    free = torch.cuda.mem_get_info()[0]
    if need > free:
        raise NotMeasured(
            f"not enough memory on the GPU: {need / 1e9:.1f} GB are needed, {free / 1e9:.1f} are free"
        )


def slots_of(launches: list[dict[str, Any]], written: list[int]) -> tuple[Slots, set[int]]:
    """Buffers for all kernels of a comparison, and those among them that are restored before every run."""
    import torch

    torch.cuda.empty_cache()
    check_room(3 * max(sum(s["bytes"] for s in launch["storages"]) for launch in launches))
    changing = set(written)
    for launch in launches:
        changing |= {slot_of(launch, k) for k, s in enumerate(launch["storages"]) if "permuted_from" in s}
    return Slots(launches), changing


def arms_of(folder: str, tasks: list[dict[str, Any]], written: list[int]) -> list[Arm]:
    """The kernels of a comparison, the original first."""
    slots, changing = slots_of([t["launch"] for t in tasks], written)
    found: list[Arm] = []
    for task in tasks:
        found.append(Arm(Path(folder), task, slots, changing, found[-1] if found else None))
    return found
