"""The memory of a captured launch, on the CPU or on a GPU, and the arguments that point into it.

A launch record has ``storages``: captured ones (``file``) and permuted ones (``permuted_from``, ``origin``
in bytes, ``permutation``, ``element_bytes``). A storage lies at the same address modulo 512 as when it was
captured, so that alignments are those of the program. One with a ``filler`` is only written: it begins with
that byte everywhere.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coalesce_lint.verify.closure import triton_dtype
from coalesce_lint.verify.request import ADDRESS_STEP
from coalesce_lint.verify.variant.permutation import Permutation

ALIGNMENT = 512
#: Bytes before and after a storage, so that a pointer just outside is still one into our allocation.
MARGIN = 4096


class Pointer:
    """A pointer argument: what Triton asks of a tensor."""

    def __init__(self, dtype: Any, address: int) -> None:
        self.dtype = dtype
        self._address = address

    def data_ptr(self) -> int:
        return self._address

    @staticmethod
    def ptr_range() -> int:
        return 0


def values(launch: dict[str, Any], base_of: Any) -> dict[str, Any]:
    """The kernel's arguments by name; ``base_of(k)`` is the address of storage ``k``."""
    return {name: _value(spec, base_of) for name, spec in launch["arguments"].items()}


def _value(spec: dict[str, Any], base_of: Any) -> Any:
    import torch

    match spec["kind"]:
        case "tensor":
            name = spec.get("wrapper") or spec["dtype"]
            dtype = getattr(torch, name, None) or triton_dtype(name)
            return Pointer(dtype, base_of(spec["storage"]) + spec["offset"])
        case "none":
            return None
        case "dtype":
            return triton_dtype(spec["value"])
        case "descriptor":
            from triton.tools.tensor_descriptor import TensorDescriptor

            more = {} if spec["padding"] == "zero" else {"padding": spec["padding"]}
            shapes = (spec["shape"], spec["strides"], spec["block_shape"])
            return TensorDescriptor(_value(spec["base"], base_of), *shapes, **more)
        case "tuple":
            return tuple(_value(v, base_of) for v in spec["values"])
    return spec["value"]


def made_up_base(launch: dict[str, Any], number: int) -> int:
    """An address for storage ``number`` that is nowhere, aligned as the captured one."""
    return (number + 1) * ADDRESS_STEP + launch["storages"][number]["address"] % ALIGNMENT


class Memory:
    """All storages of a launch as flat tensors of bytes on ``device``."""

    def __init__(self, folder: Path, launch: dict[str, Any], device: str, like: Memory | None = None) -> None:
        """Reads the captured storages and permutes what is to be permuted; shares what ``like`` has alike."""
        self.launch = launch
        self.device = device
        self.keep: list[Any] = []
        self.flat: list[Any] = []
        shared = set()
        for number, storage in enumerate(launch["storages"]):
            if like is not None and like.launch["storages"][number : number + 1] == [storage]:
                self.flat.append(like.flat[number])
                shared.add(number)
                continue
            flat = self.allocate(storage["bytes"], storage["address"] % ALIGNMENT)
            self.flat.append(flat)
            if "filler" in storage:
                flat.fill_(storage["filler"])
            elif "file" in storage:
                flat.copy_(read(folder / storage["file"], storage["bytes"]))
        for number, storage in enumerate(launch["storages"]):
            if "permuted_from" in storage and number not in shared:
                self.permute(number)

    def allocate(self, size: int, modulo: int) -> Any:
        import torch

        whole = torch.zeros(size + 2 * MARGIN + 2 * ALIGNMENT, dtype=torch.uint8, device=self.device)
        self.keep.append(whole)
        start = MARGIN + (modulo - (whole.data_ptr() + MARGIN)) % ALIGNMENT
        return whole[start : start + size]

    def base_of(self, number: int) -> int:
        return int(self.flat[number].data_ptr())

    def values(self) -> dict[str, Any]:
        return values(self.launch, self.base_of)

    def views(self, number: int) -> tuple[Permutation, Any, Any]:
        """Permutation, source and target of a permuted storage as 1-d tensors of elements."""
        storage = self.launch["storages"][number]
        return self.views_of(storage, self.flat[storage["permuted_from"]], self.flat[number])

    @staticmethod
    def views_of(storage: dict[str, Any], source: Any, target: Any) -> tuple[Permutation, Any, Any]:
        """The same for other tensors of bytes in the place of its own."""
        import torch

        permutation = Permutation(**storage["permutation"])
        kind = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[storage["element_bytes"]]
        size = permutation.length * storage["element_bytes"]
        part = source[storage["origin"] : storage["origin"] + size]
        return permutation, aligned_view(part, kind), aligned_view(target, kind)

    def permute(self, number: int) -> None:
        """Fills a permuted storage from the one it was made of."""
        permutation, source, target = self.views(number)
        permutation.permute(source, target)

    def restore_original(self) -> None:
        """Puts what the permuted storages hold back into those they were made of (not for split copies)."""
        for number, storage in enumerate(self.launch["storages"]):
            if "permuted_from" in storage and not storage.get("copy"):
                permutation, source, target = self.views(number)
                permutation.restore(target, source)


def aligned_view(flat: Any, kind: Any) -> Any:
    """A byte tensor seen as elements of ``kind``."""
    import torch

    size = torch.empty(0, dtype=kind).element_size()
    count = flat.numel() // size
    return torch.empty(0, dtype=kind, device=flat.device).set_(
        flat.untyped_storage(), flat.storage_offset() // size, (count,), (1,)
    )


def read(path: Path, size: int) -> Any:
    """The bytes of a file as a tensor."""
    import numpy as np
    import torch

    if size == 0:
        return torch.empty(0, dtype=torch.uint8)
    return torch.from_numpy(np.fromfile(path, dtype=np.uint8, count=size))
