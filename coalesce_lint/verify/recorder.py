"""Stands in for the memory of Triton's interpreter: every access is handed on, none is carried out."""

from __future__ import annotations

import itertools
import linecache
import os
import sys
from types import FrameType
from typing import Any

import numpy as np

from coalesce_lint.syntax import characters
from coalesce_lint.verify.request import ADDRESS_STEP

Place = tuple[str, int, int]

#: The column of a call where Python cannot tell it.
UNKNOWN_COLUMN = -1


#: Frames of this package are not part of a kernel.
OWN_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep


class Recorder:
    """Stands in for the interpreter's memory: hands each access to ``take`` and answers loads."""

    def __init__(self) -> None:
        from triton.runtime import interpreter

        self.triton_folder = os.path.dirname(sys.modules["triton"].__file__ or "") + os.sep
        self.interpreter = interpreter
        self.seed = 0
        self.integers_loaded = False
        self.contents: dict[int, np.ndarray] = {}
        self.take: Any = None
        self._install(interpreter.InterpreterBuilder)

    def _install(self, builder: Any) -> None:
        recorder = self

        def load(_: Any, pointers: Any, mask: Any, other: Any, *rest: Any, **named: Any) -> Any:
            recorder.take("load", pointers.data, mask.data, element_bytes(pointers))
            return recorder.values(pointers, mask, other)

        def store(_: Any, pointers: Any, value: Any, mask: Any, *rest: Any, **named: Any) -> None:
            recorder.take("store", pointers.data, mask.data, element_bytes(pointers))

        def atomic_rmw(_: Any, operation: Any, pointers: Any, value: Any, mask: Any, *rest: Any) -> Any:
            recorder.take("atomic", pointers.data, mask.data, element_bytes(pointers))
            return recorder.values(pointers, mask, None)

        def atomic_cas(_: Any, pointers: Any, expected: Any, value: Any, *rest: Any) -> Any:
            recorder.take("atomic", pointers.data, None, element_bytes(pointers))
            return recorder.handle(expected.data, pointers)

        builder.create_masked_load = load
        builder.create_masked_store = store
        builder.create_atomic_rmw = atomic_rmw
        builder.create_atomic_cas = atomic_cas
        original = self.interpreter._patch_lang_tensor

        def patch_tensor(tensor: Any, *scope: Any) -> None:
            original(tensor, *scope)
            # numpy 2.4 no longer turns arrays of one element into ints, which older interpreters rely on.
            tensor.__index__ = lambda value: int(np.asarray(value.handle.data).reshape(-1)[0])

        self.interpreter._patch_lang_tensor = patch_tensor

    def handle(self, data: np.ndarray, pointers: Any) -> Any:
        return self.interpreter.TensorHandle(data, pointers.get_element_ty())

    def values(self, pointers: Any, mask: Any, other: Any) -> Any:
        """What a load gives: given contents, else made-up integers below 64 and zeros for floats."""
        kind = self.interpreter._get_np_dtype(pointers.get_element_ty())
        addresses = np.asarray(pointers.data, dtype=np.uint64)
        base = int(addresses.reshape(-1)[0]) // ADDRESS_STEP if addresses.size else 0
        floating = pointers.get_element_ty().is_floating()
        if base in self.contents:
            array = self.contents[base]
            index = (addresses % np.uint64(ADDRESS_STEP) // np.uint64(array.itemsize)).astype(np.int64)
            data = array.reshape(-1)[np.clip(index, 0, array.size - 1)].astype(kind)
        elif floating or kind == np.dtype(bool):
            data = np.zeros(addresses.shape, dtype=kind)
        else:
            self.integers_loaded = True
            mixed = (addresses // np.uint64(kind.itemsize) + np.uint64(self.seed)) * np.uint64(
                0x9E3779B97F4A7C15
            )
            data = (mixed >> np.uint64(58)).astype(kind)
        if other is not None and mask is not None:
            data = np.where(mask.data, data, other.data).astype(kind)
        return self.handle(data, pointers)

    def places(self) -> list[Place]:
        """Places of the calls on the stack that belong to kernels, innermost first."""
        found: list[Place] = []
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            name = frame.f_code.co_filename
            if frame.f_code.co_name == "run_program" and name.startswith(OWN_FOLDER):
                break
            if not name.startswith((OWN_FOLDER, self.triton_folder)) and name[:1] != "<":
                found.append(place_of(frame))
            frame = frame.f_back
        return found


def element_bytes(pointers: Any) -> int:
    return max(1, pointers.get_element_ty().primitive_bitwidth // 8)


def place_of(frame: FrameType) -> Place:
    """File, line and column (in the file) of the call that a frame is in."""
    code = frame.f_code
    positions = getattr(code, "co_positions", None)
    if positions is None:  # Python 3.10 knows lines only
        return code.co_filename, frame.f_lineno, UNKNOWN_COLUMN
    position = next(itertools.islice(positions(), frame.f_lasti // 2, None))
    line, column = position[0] or frame.f_lineno, position[2] or 0
    # The interpreter compiles a dedented copy of the function: give the indent of its ``def`` back.
    head = linecache.getline(code.co_filename, code.co_firstlineno)
    column += len(head) - len(head.lstrip())
    # Python counts bytes of UTF-8, the linter characters
    return code.co_filename, line, characters([linecache.getline(code.co_filename, line)], 1, column)
