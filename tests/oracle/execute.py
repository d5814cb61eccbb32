"""Launches kernels: binds arguments, runs chosen programs, returns the records of every access."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .dtypes import BY_NAME, DType, OracleUnsupported, float32, pointer_type
from .memory import Descriptor, Machine, Record, Taken, root_address, running
from .modules import JitFunction, Module
from .values import Tile, tile


@dataclass(frozen=True)
class PointerArg:
    """A pointer argument; ``element`` names the type it points to."""

    element: str = "float32"


@dataclass(frozen=True)
class DescriptorArg:
    """A tensor descriptor made by the host: shape and strides in elements, box in lanes."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    element: str = "float16"


@dataclass(frozen=True)
class Launch:
    """Which programs of which grid to run, and what memory holds."""

    programs: tuple[tuple[int, int, int], ...] = ((0, 0, 0),)
    grid: tuple[int, int, int] = (4, 3, 2)
    seed: int = 0
    table: int = 61


def _argument(value: Any, root: int, fixed: bool) -> Any:
    if isinstance(value, PointerArg):
        element: DType = BY_NAME.get(value.element, float32)
        return Tile(np.int64(root_address(root)), pointer_type(element))
    if isinstance(value, DescriptorArg):
        base = _argument(PointerArg(value.element), root, False)
        return Descriptor(base, [tile(n) for n in value.shape], [tile(n) for n in value.strides], value.box)
    if fixed or not isinstance(value, (bool, int, float)):
        return value
    return tile(value)


def launch(
    kernel: JitFunction, arguments: dict[str, Any], how: Launch, taken: set[Taken] | None = None
) -> list[Record]:
    """Runs ``kernel`` with ``arguments`` (numbers, ``PointerArg``, None) for every program of ``how``.

    ``taken`` collects each branch that was reached, and which way it went.

    Raises OracleUnsupported for what the oracle does not model; any other error of the kernel becomes one.
    """
    records: list[Record] = []
    roots = list(kernel.parameters)
    bound = {
        name: _argument(value, roots.index(name), name in kernel.constexprs)
        for name, value in arguments.items()
        if name in roots
    }
    for program in how.programs:
        machine = Machine(program=program, grid=how.grid, seed=how.seed, table=how.table, roots=roots)
        with running(machine), np.errstate(all="ignore"):
            try:
                kernel.run(**bound)
            except OracleUnsupported:
                raise
            except Exception as error:
                raise OracleUnsupported(f"{type(error).__name__}: {error}") from error
        records += machine.records
        if taken is not None:
            taken |= machine.taken
    return records


def run_text(
    text: str, kernel: str, arguments: dict[str, Any], how: Launch, path: str = "kernel.py"
) -> list[Record]:
    """``launch`` for a kernel given as source text."""
    return launch(Module(text, path).functions[kernel], arguments, how)
