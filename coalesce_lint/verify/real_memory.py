"""Accesses of interpreted kernels to real memory: each is checked, written down, and carried out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coalesce_lint.verify.memory import Memory
from coalesce_lint.verify.recorder import Place, Recorder, element_bytes


class OutOfBounds(RuntimeError):
    """An access outside the memory of the launch's tensors."""


class OriginalOutOfBounds(OutOfBounds):
    """The same, by the original of a proof."""


@dataclass
class Event:
    """One execution of one access: addresses in bytes and which lanes are active (None: all)."""

    kind: str
    places: list[Place]
    addresses: np.ndarray
    mask: np.ndarray | None
    size: int

    def active(self) -> np.ndarray:
        flat = self.addresses.reshape(-1)
        if self.mask is None:
            return flat
        return flat[np.broadcast_to(self.mask, self.addresses.shape).reshape(-1)]


class RealRecorder(Recorder):
    """Carries accesses out, after each was checked and written down."""

    def __init__(self, atomics: tuple[Any, Any]) -> None:
        self.atomics = atomics
        self.events: list[Event] = []
        self.starts = np.zeros(0, dtype=np.int64)
        self.ends = np.zeros(0, dtype=np.int64)
        self.order: list[int] = []
        super().__init__()

    def _install(self, builder: Any) -> None:
        super()._install(builder)  # for loops over numpy integers
        from triton.runtime import interpreter as module

        recorder = self
        native = module._interpreter
        to_numpy = module._get_np_dtype

        def load(_: Any, pointers: Any, mask: Any, other: Any, *rest: Any, **named: Any) -> Any:
            recorder.note("load", pointers, mask.data)
            kind = pointers.get_element_ty()
            dtype = to_numpy(kind)
            filler = np.zeros(pointers.data.shape, dtype) if other is None else other.data
            return recorder.handle(native.load(pointers.data, mask.data, filler, dtype), pointers)

        def store(_: Any, pointers: Any, value: Any, mask: Any, *rest: Any, **named: Any) -> Any:
            recorder.note("store", pointers, mask.data)
            return native.store(pointers.data, value.data, mask.data)

        rmw, cas = recorder.atomics

        def atomic_rmw(own: Any, operation: Any, pointers: Any, value: Any, mask: Any, *rest: Any) -> Any:
            recorder.note("atomic", pointers, mask.data)
            return rmw(own, operation, pointers, value, mask, *rest)

        def atomic_cas(own: Any, pointers: Any, *rest: Any) -> Any:
            recorder.note("atomic", pointers, None)
            return cas(own, pointers, *rest)

        builder.create_masked_load = load
        builder.create_masked_store = store
        builder.create_atomic_rmw = atomic_rmw
        builder.create_atomic_cas = atomic_cas

    def over(self, memory: Memory) -> None:
        """Makes the storages of ``memory`` the only ones that may be touched."""
        spans = sorted((memory.base_of(k), memory.flat[k].numel(), k) for k in range(len(memory.flat)))
        self.starts = np.array([s for s, _, _ in spans], dtype=np.int64)
        self.ends = np.array([s + n for s, n, _ in spans], dtype=np.int64)
        self.order = [k for _, _, k in spans]

    def note(self, kind: str, pointers: Any, mask: np.ndarray | None) -> None:
        addresses = np.array(pointers.data, dtype=np.int64)
        size = element_bytes(pointers)
        event = Event(
            kind, self.places(), addresses, None if mask is None else np.array(mask, dtype=bool), size
        )
        active = event.active()
        if active.size:
            index = np.searchsorted(self.starts, active, side="right") - 1
            outside = (index < 0) | (active + size > self.ends[np.maximum(index, 0)])
            if outside.any():
                raise OutOfBounds(self.describe(event, int(active[outside.argmax()])))
        self.events.append(event)
        if self.take is not None:
            self.take(kind, addresses, event.mask, size)

    def describe(self, event: Event, address: int) -> str:
        place = event.places[0] if event.places else ("?", 0, 0)
        distances = [
            (address - int(e), k) for e, k in zip(self.ends, self.order, strict=True) if address >= e
        ]
        where = (
            "before its tensors"
            if not distances
            else f"{min(distances)[0] + event.size} bytes past the end of a tensor"
        )
        return f"the {event.kind} at {place[0]}:{place[1]} reaches {where}"

    def located(self, addresses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Storage numbers and byte offsets within them."""
        index = np.searchsorted(self.starts, addresses, side="right") - 1
        return np.array(self.order, dtype=np.int64)[index], addresses - self.starts[index]


def show(event: Event) -> str:
    place = event.places[0] if event.places else ("?", 0, 0)
    return f"the {event.kind} at line {place[1]}"
