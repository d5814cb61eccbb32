"""Compiles kernels without a GPU. Runs as a subprocess (``python -m``), for it imports the user's file and
Triton.

A stand-in driver reports the wanted target; ``warmup`` then specializes and compiles exactly as a launch
would. Every memory operation is marked while Triton reads the kernel, with a source line that is its serial
number, so that it can be found again in TTGIR and PTX whatever the compiler's version makes of columns.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import linecache
import os
import re
import subprocess
import sys
import tempfile
from typing import Any

from coalesce_lint.hardware.linear_layout import LinearLayout
from coalesce_lint.syntax import characters
from coalesce_lint.verify import memory, stage, worker
from coalesce_lint.verify.failures import compiling
from coalesce_lint.verify.sass import LINES_PER_OPERATION, Instruction, apply_sass, assign, tag_ptx
from coalesce_lint.verify.subject import bind, fake_pointer, load_kernel, unwrap
from coalesce_lint.verify.ttgir import Operation, operations

#: The file name that marked operations carry in their location.
MARK = "coalesce-lint-operation"


class StandInDriver:
    """The least of a Triton driver that ``warmup`` asks for; there is no device behind it."""

    def __init__(self, target: Any) -> None:
        self.target = target

    def get_current_target(self) -> Any:
        return self.target

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return 0

    def is_active(self) -> bool:
        return True

    def map_python_to_cpp_type(self, kind: str) -> str:
        return kind


class Marker:
    """Gives each call of a memory function that Triton's code generator reads a serial number as its source
    line."""

    def __init__(self) -> None:
        self.places: list[tuple[str, int, int]] = []
        self._memory: set[Any] = set()
        self._install()

    def _install(self) -> None:
        import triton.language as tl
        from triton.compiler import code_generator
        from triton.runtime.jit import JITFunction

        names = ("load", "store", "atomic_cas", "atomic_xchg", "atomic_add", "atomic_max", "atomic_min",
                 "atomic_and", "atomic_or", "atomic_xor", "atomic_load", "atomic_store",
                 "load_tensor_descriptor", "store_tensor_descriptor")  # fmt: skip
        for owner in (
            tl,
            tl.core,
            tl.tensor,
            getattr(tl.core, "tensor_descriptor_base", None),
            tl.core.tensor_descriptor,
        ):
            for name in (*names, "gather", "scatter"):
                function = getattr(owner, name, None)
                if function is not None and not (
                    owner in (tl, tl.core, tl.tensor) and name in ("gather", "scatter")
                ):
                    self._memory.add(function)
        original = code_generator.CodeGenerator.call_Function
        marker = self

        def call_function(generator: Any, node: ast.Call, fn: Any, args: Any, kws: Any) -> Any:
            inner = getattr(fn, "__func__", fn)
            if isinstance(fn, JITFunction) or inner in marker._memory:
                line = generator.begin_line + node.lineno
                text = linecache.getline(generator.file_name, line)
                # Triton, too, has Python's columns, which count bytes of UTF-8
                column = characters([text], 1, node.col_offset + indent(generator))
                place = (generator.file_name, line, column)
                if isinstance(fn, JITFunction):
                    generator.builder.set_loc(*place)
                else:
                    marker.places.append(place)
                    generator.builder.set_loc(MARK, len(marker.places) * LINES_PER_OPERATION, place[2])
            return original(generator, node, fn, args, kws)

        code_generator.CodeGenerator.call_Function = call_function

    def serial(self, operation: Operation) -> int | None:
        """The serial number (from 1) of a marked operation, None for others (made by the compiler itself)."""
        if operation.places and operation.places[0][0].endswith(MARK):
            return operation.places[0][1] // LINES_PER_OPERATION
        return None


def indent(generator: Any) -> int:
    """Columns that Triton took off the function's lines before it parsed them."""
    if hasattr(generator, "begin_col"):
        return generator.begin_col - 1
    head = linecache.getline(generator.file_name, generator.begin_line + 1)
    return len(head) - len(head.lstrip())


class TaggedAssembly:
    """Tags PTX on its way to ptxas (see ``sass.py``); ``assembles`` False leaves ptxas out."""

    def __init__(self) -> None:
        from triton.backends.nvidia.compiler import CUDABackend

        self.instructions: list[Instruction] = []
        self.assembles = True
        original = CUDABackend.make_ptx
        tagging = self

        def make_ptx(backend: Any, *args: Any, **kwargs: Any) -> str:
            tagged, tagging.instructions = tag_ptx(original(backend, *args, **kwargs))
            return tagged

        assemble = CUDABackend.make_cubin

        def make_cubin(backend: Any, *args: Any, **kwargs: Any) -> bytes:
            return assemble(backend, *args, **kwargs) if tagging.assembles else b""

        CUDABackend.make_ptx = make_ptx
        CUDABackend.make_cubin = make_cubin


def disassemble(cubin: bytes) -> str | None:
    """Machine code with line numbers, by the nvdisasm of Triton's wheel (or on PATH). None where there is
    none."""
    import triton

    tool = os.path.join(os.path.dirname(triton.__file__), "backends", "nvidia", "bin", "nvdisasm")
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        try:
            done = subprocess.run(
                [tool if os.path.exists(tool) else "nvdisasm", "-g", "-c", file.name],
                capture_output=True,
                text=True,
                timeout=120,
                check=True,
            )
        except (OSError, subprocess.SubprocessError):
            return None
    return done.stdout


def convert_layout(text: str, shape: tuple[int, ...]) -> LinearLayout:
    """Layouts of tensor cores, by Triton's own conversion (``text`` is the encoding with aliases
    replaced)."""
    from triton._C.libtriton import gluon_ir, ir
    from triton.experimental.gluon.language import _layouts

    def numbers(key: str) -> list[int]:
        found = re.search(rf"\b{key} = \[([\d, ]*)\]", text)
        return [int(n) for n in found.group(1).split(",")] if found else []

    def gluon(encoding: str) -> Any:
        if encoding.startswith("#ttg.nvidia_mma<"):
            version = [int(n) for n in re.findall(r"version(?:Major|Minor) = (\d+)", encoding)[:2]]
            return _layouts.NVMMADistributedLayout(version, numbers("warpsPerCTA"), numbers("instrShape"))
        if encoding.startswith("#ttg.dot_op<"):
            found = re.search(r"opIdx = (\d+), parent = (.*)", encoding)
            width = re.search(r"kWidth = (\d+)", encoding)
            if found:
                return _layouts.DotOperandLayout(
                    int(found.group(1)), gluon(found.group(2)), int(width.group(1)) if width else 0
                )
        if encoding.startswith("#ttg.blocked<"):
            return _layouts.BlockedLayout(
                *map(numbers, ("sizePerThread", "threadsPerWarp", "warpsPerCTA", "order"))
            )
        raise ValueError(f"unknown encoding {encoding}")

    context = ir.context()
    ir.load_dialects(context)
    builder = gluon_ir.GluonOpBuilder(context)
    found = builder.to_linear_layout(gluon(text)._to_ir(builder), list(shape))
    groups = (tuple(map(tuple, g)) for g in (found.reg_bases, found.lane_bases, found.warp_bases))
    register, lane, warp = groups
    return LinearLayout(shape, register, lane, warp)


class Compiler:
    """Compiles tasks one after another; keeps imported files and the marks between them."""

    def __init__(self) -> None:
        import triton  # noqa: F401
        from triton.backends.compiler import GPUTarget
        from triton.runtime.driver import driver

        self.target = GPUTarget
        self.driver = driver
        self.marker = Marker()
        self.assembly = TaggedAssembly()
        self.kernels: dict[tuple[str, str, int | None], Any] = {}

    def kernel(self, path: str, name: str, line: int | None) -> Any:
        key = (path, name, line)
        if key not in self.kernels:
            self.kernels[key] = load_kernel(path, name, line)
        return self.kernels[key]

    def __call__(self, task: dict[str, Any]) -> dict[str, Any]:
        self.driver.set_active(StandInDriver(self.target("cuda", task["arch"], 32)))
        kernel = self.kernel(task["path"], task["kernel"], task.get("line"))
        if "launch" in task:
            launch, taken = task["launch"], None
            values = memory.values(launch, functools.partial(memory.made_up_base, launch))
            options = dict(launch["options"])
        else:
            values, options, taken = bind(kernel, task, fake_pointer)
        function, _, _ = unwrap(kernel)
        if isinstance(function.device_caches if hasattr(function, "device_caches") else None, dict):
            function.device_caches.clear()
        self.assembly.assembles = task.get("machine_code", True)
        compiled = compiling(lambda: function.warmup(**values, grid=(1,), **options))
        text = compiled.asm["ttgir"]
        found = operations(text, convert_layout)
        serials = [self.marker.serial(o) for o in found]
        instructions = self.assembly.instructions
        disassembly = disassemble(compiled.asm["cubin"]) if self.assembly.assembles else None
        if disassembly is not None:
            apply_sass(instructions, disassembly)
        assign(found, serials, instructions)
        answer = {
            "triton": sys.modules["triton"].__version__,
            "counted_in": "ptx" if disassembly is None else "sass",
            "num_warps": compiled.metadata.num_warps,
            "taken": taken,
            "operations": [self.describe(o, s) for o, s in zip(found, serials, strict=True) if s is not None],
        }
        if task.get("keep_text"):
            answer.update(ttgir=text, ptx=compiled.asm["ptx"], sass=disassembly)
        return answer

    def describe(self, operation: Operation, serial: int) -> dict[str, Any]:
        layout = operation.layout
        return {
            "name": operation.name,
            "kind": operation.kind,
            "serial": serial,
            "places": [self.marker.places[serial - 1], *operation.places[1:]],
            "depth": operation.depth,
            "shape": operation.shape,
            "element_bits": operation.element_bits,
            "encoding": operation.encoding,
            "masked": operation.masked,
            "layout": None if layout is None else [layout.register, layout.lane, layout.warp],
            "order": None if layout is None else encoding_order(operation.encoding) or layout.order,
            "vector": operation.extra.get("vector", 1),
            "opcode": operation.extra.get("opcode"),
            "emitted": operation.extra.get("emitted", []),
        }


def encoding_order(encoding: str) -> tuple[int, ...] | None:
    """The ``order`` of a blocked encoding, axes from fastest to slowest."""
    found = re.match(r"#ttg\.blocked<.*order = \[([\d, ]+)\]", encoding)
    return tuple(int(n) for n in found.group(1).split(",")) if found else None


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        stage.serve(Compiler) if sys.argv[1:] == ["--serve"] else worker.main(Compiler)
