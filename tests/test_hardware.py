"""The static model: what the compiler can prove, which layout it picks, which sectors a warp touches."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from coalesce_lint.access import Access, Kernel
from coalesce_lint.hardware import axis_info
from coalesce_lint.hardware.axis_arithmetic import binary
from coalesce_lint.hardware.axis_info import Info
from coalesce_lint.hardware.cost import cost_of_kernel
from coalesce_lint.hardware.launch import Launch, specialized_arguments
from coalesce_lint.hardware.layout import (
    MemoryOp,
    coalesce,
    contiguity_order,
    default_layout,
    vector_elements,
)
from coalesce_lint.hardware.operations import memory_ops
from coalesce_lint.hardware.profiles import PROFILES, profile_of
from coalesce_lint.hardware.programs import program_weights
from coalesce_lint.hardware.tiles import Tile, apply, reshape, stretched, transpose
from coalesce_lint.pins import make_pins
from coalesce_lint.twin import twin_kernels

DATA = Path(__file__).resolve().parent / "data" / "truth"
OLD, NEW = PROFILES["3.6"], PROFILES["3.9"]
NAMES = {
    "float32": "fp32",
    "float16": "fp16",
    "float64": "fp64",
    "int8": "i8",
    "int32": "i32",
    "int64": "i64",
}
#: Loops whose body holds the load, with the argument that is their number of iterations.
TRIPS = {"pointer_walk_rows": "n_rows", "pointer_walk_cols": "n_cols"}
HEADER = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"


def costed(
    text: str, name: str, grid: str = "64", triton: str = "3.6", warps: int = 4, **arguments: Any
) -> Kernel:
    """A kernel with its costs under a launch."""
    pins = make_pins([f"{n}={v}" for n, v in arguments.items()], grid, warps, triton, "sm90")
    kernel, launch = twin_kernels(text, "kernel.py", pins, name)[0]
    cost_of_kernel(kernel, launch)
    return kernel


def only(text: str, op: str = "load", **more: Any) -> Access:
    """The single access of this kind in a kernel ``k`` written without header."""
    kernel = costed(HEADER + text, "k", **more)
    (access,) = [a for a in kernel.accesses if a.op == op]
    assert access.cost is not None
    return access


# -- the hardware's counters
# ----------------------------------------------------------------------------------------


def cases() -> list[Any]:
    found = []
    for version, file in (("3.6", "h200_triton36.json"), ("3.9", "h200_triton39.json")):
        for case in json.loads((DATA / file).read_text()):
            found.append(pytest.param(version, case, id=f"{version}-{case['case']}"))
    return found


@pytest.fixture(scope="module")
def kernels_text() -> str:
    return (DATA / "kernels.py").read_text()


@pytest.mark.parametrize(("version", "case"), cases())
def test_counters_of_the_hardware_are_predicted(
    version: str, case: dict[str, Any], kernels_text: str
) -> None:
    arguments: dict[str, Any] = {n: v for n, v in case["consts"].items() if n != "num_warps"}
    for (name, value), offset in zip(case["args"].items(), case["base_mod16"], strict=True):
        arguments[name] = f"*{NAMES[value[1:]]}:{offset or 16}" if isinstance(value, str) else value
    warps = case["consts"].get("num_warps", 4)
    kernel = costed(
        kernels_text, case["kernel"], ",".join(map(str, case["grid"])), version, warps, **arguments
    )
    for direction, op in (("ld", "load"), ("st", "store")):
        requests = case[f"{direction}_requests"]
        if not requests or (case["kernel"] == "lane_gather" and op == "load"):
            continue
        found = [a.cost for a in kernel.accesses if a.op == op]
        per_warp = sum(c.requests_per_warp for c in found if c)
        sectors = sum(c.requests_per_warp * (c.sectors_per_request or 0) for c in found if c)
        trips = case["args"][TRIPS[case["kernel"]]] if op == "load" and case["kernel"] in TRIPS else 1
        assert per_warp * trips * warps * math.prod(case["grid"]) == pytest.approx(requests, rel=0.03)
        assert sectors / per_warp == pytest.approx(case[f"{direction}_sectors"] / requests, rel=0.03)


# -- what the compiler can prove
# --------------------------------------------------------------------------------------


def test_aranges_and_splats() -> None:
    assert axis_info.arange(0, 64) == Info((64,), (axis_info.MAX_DIVISOR,), (1,))
    assert axis_info.arange(8, 72).divisibility == (8,)
    assert axis_info.splat(Info((1,), (16,), (1,)), (4, 8)) == Info((1, 1), (16, 16), (4, 8))


@pytest.mark.parametrize(
    ("op", "a", "b", "contiguity", "constancy"),
    [
        ("add", Info((64,), (16,), (1,)), Info((1,), (16,), (64,)), 64, 1),
        ("sub", Info((64,), (16,), (1,)), Info((1,), (16,), (64,)), 64, 1),
        ("sub", Info((1,), (16,), (64,)), Info((64,), (16,), (1,)), 1, 1),
        ("mul", Info((64,), (16,), (1,)), Info((1,), (1,), (64,), 1), 64, 1),
        ("mul", Info((64,), (16,), (1,)), Info((1,), (2,), (64,), 2), 1, 1),
        ("mod", Info((64,), (64,), (1,)), Info((1,), (16,), (64,)), 16, 1),
        ("mod", Info((64,), (64,), (1,)), Info((1,), (1,), (64,)), 1, 1),
        ("div", Info((64,), (64,), (1,)), Info((1,), (16,), (64,)), 1, 16),
        ("and", Info((64,), (64,), (1,)), Info((1,), (16,), (64,)), 1, 1),
        ("xor", Info((64,), (64,), (1,)), Info((1,), (16,), (64,)), 1, 1),
        ("shl", Info((64,), (64,), (1,)), Info((1,), (4,), (64,), 0), 64, 1),
    ],
)
def test_arithmetic(op: str, a: Info, b: Info, contiguity: int, constancy: int) -> None:
    for profile in (OLD, NEW):
        found = binary(profile, op, a, b, (64,))
        assert (found.contiguity[0], found.constancy[0]) == (contiguity, constancy)


def test_pointers_count_in_bytes() -> None:
    offset = Info((64,), (64,), (1,))
    assert binary(OLD, "add", Info((1,), (16,), (64,)), offset, (64,), 4).divisibility == (16,)
    assert binary(OLD, "add", Info((1,), (16,), (64,)), Info((64,), (1,), (1,)), (64,), 4).divisibility == (
        4,
    )


def test_masks_are_constant_as_far_as_their_bound_is_divisible() -> None:
    lanes = Info((64,), (64,), (1,))
    assert axis_info.compare("lt", lanes, Info((1,), (16,), (64,)), (64,)).constancy == (16,)
    assert axis_info.compare("lt", lanes, Info((1,), (1,), (64,)), (64,)).constancy == (1,)
    assert axis_info.compare("gt", lanes, Info((1,), (16,), (64,)), (64,)).constancy == (1,)


def test_reshape_keeps_runs_since_3_9() -> None:
    flat = Info((4096,), (4096,), (1,))
    assert axis_info.reshape(OLD, flat, (4096,), (64, 64)).contiguity == (1, 1)
    assert axis_info.reshape(NEW, flat, (4096,), (64, 64)).contiguity == (1, 64)


def test_specialization_shows_the_compiler_little() -> None:
    given = {"n": 997, "one": 1, "plain_one": 1, "BLOCK": 64, "flag": True, "none": None}
    assert specialized_arguments(given, {"BLOCK"}, {"plain_one"}) == {"one": 1, "BLOCK": 64, "none": None}


# -- layouts
# ---------------------------------------------------------------------------------------------------------


def test_ties_depend_on_the_version() -> None:
    assert contiguity_order(OLD, (1, 1)) == (0, 1)
    assert contiguity_order(NEW, (1, 1)) == (1, 0)
    assert contiguity_order(OLD, (1, 8)) == contiguity_order(NEW, (1, 8)) == (1, 0)
    assert profile_of("3.7") == profile_of(None) == OLD


def test_a_load_takes_the_wish_of_its_slice_and_a_store_its_own() -> None:
    wide = MemoryOp("load", (1024,), 4, Info((1024,), (16,), (1,)))
    narrow = MemoryOp("store", (1024,), 4, Info((1024,), (4,), (1,)))
    strided = MemoryOp("load", (1024,), 4, Info((1,), (8,), (1,)))
    alone = MemoryOp("load", (1024,), 4, Info((1,), (8,), (1,)), group=1)
    coalesce(OLD, [wide, narrow, strided, alone], 4)
    assert [op.per_thread for op in (wide, narrow, strided, alone)] == [4, 1, 4, 1]
    assert [vector_elements(op) for op in (wide, narrow, strided, alone)] == [4, 1, 1, 1]


def test_the_default_layout_runs_along_the_last_axis() -> None:
    layout = default_layout((16, 8), 4)
    assert layout.lane == ((0, 1), (0, 2), (0, 4), (1, 0), (2, 0))
    assert layout.warp == ((4, 0), (8, 0))


def test_small_tiles_take_their_consumers_layout() -> None:
    text = HEADER + (
        "def k(x, b, y, BM: tl.constexpr, BN: tl.constexpr):\n"
        "    m = tl.program_id(0) * BM + tl.arange(0, BM)\n"
        "    n = tl.arange(0, BN)\n"
        "    o = m[:, None] * BN + n[None, :]\n"
        "    tl.store(y + o, tl.load(x + o) + tl.load(b + m)[:, None])\n"
    )
    pins = make_pins(["x=*fp32", "b=*fp32", "y=*fp32", "BM=64", "BN=64"], "8", 4, "3.6", "sm90")
    kernel, launch = twin_kernels(text, "k.py", pins, "k")[0]
    bias = next(op for op in memory_ops(kernel.accesses, launch) if op and op.origin.pointer == "b")
    assert bias.layout is not None
    assert bias.layout.lane == ((0,), (0,), (0,), (0,), (1,))  # 16 lanes hold the same row


# -- costs
# -----------------------------------------------------------------------------------------------------------

COPY = (
    "def k(x, y, n, BLOCK: tl.constexpr):\n"
    "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
    "    tl.store(y + i, tl.load(x + {offset}, mask={mask}))\n"
)


def copied(offset: str = "i", mask: str = "None", x: str = "*fp32", n: int = 1 << 20, **more: Any) -> Access:
    text = COPY.format(offset=offset, mask=mask)
    return only(text, x=x, y="*fp32", n=n, BLOCK=1024, grid="1024", **more)


def test_a_perfect_copy() -> None:
    access = copied()
    cost = access.cost
    assert cost is not None
    assert (cost.vector_bytes, cost.requests_per_warp, cost.sectors_per_request) == (16, 2, 16)
    assert (cost.ideal_sectors_per_request, cost.efficiency, cost.limited_by) == (16, 1, None)
    assert cost.program_sectors == 128


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"offset": "i * 8"}, "stride"),
        ({"offset": "i * n", "n": 33}, "stride"),
        ({"x": "*fp32:4"}, "alignment"),
        ({"offset": "i + 1"}, "alignment"),
        ({"mask": "i < n", "n": 1000003}, "mask"),
        ({"offset": "n - 1 - i"}, "contiguity"),
        ({"offset": "i % n", "n": 997}, "contiguity"),
        ({"offset": "tl.load(x + i)"}, "gather"),
    ],
)
def test_what_limits_an_access(more: dict[str, Any], reason: str) -> None:
    text = COPY.format(offset=more.pop("offset", "i"), mask=more.pop("mask", "None"))
    pins = {"x": "*fp32", "y": "*fp32", "n": 1 << 20, "BLOCK": 1024, **more}
    kernel = costed(HEADER + text, "k", "1024", **pins)
    loads = [a.cost for a in kernel.accesses if a.op == "load"]
    assert loads and all(c is not None for c in loads)
    assert reason in [c.limited_by for c in loads if c]


def test_a_gather_is_bounded_only() -> None:
    kernel = costed(
        HEADER + COPY.format(offset="tl.load(x + i)", mask="None"), "k", x="*i32", y="*i32", n=1, BLOCK=256
    )
    inner, outer = sorted(
        (a for a in kernel.accesses if a.op == "load"), key=lambda a: a.pattern != "contiguous"
    )
    assert inner.cost and inner.cost.sectors_per_request == 8
    assert outer.cost and outer.cost.sectors_per_request is None
    assert outer.cost.max_sectors_per_request is not None


def test_masked_lanes_do_not_count() -> None:
    whole = copied(mask="i < n", n=1 << 20).cost
    half = copied(mask="i < n", n=1 << 19).cost
    assert whole and half
    assert half.requests_per_warp == pytest.approx(whole.requests_per_warp / 2, rel=0.2)


def test_without_enough_of_a_launch_there_is_no_cost() -> None:
    kernel = costed(HEADER + COPY.format(offset="i", mask="None"), "k", x="*fp32", y="*fp32")
    assert [a.cost for a in kernel.accesses] == [None, None]


def test_defaults_of_parameters_count() -> None:
    text = COPY.format(offset="i", mask="None").replace("BLOCK: tl.constexpr", "BLOCK: tl.constexpr = 512")
    cost = only(text, x="*fp32", y="*fp32", n=1 << 20, grid="8").cost
    assert cost and cost.requests_per_warp == 1


def test_the_grids_sectors_are_counted_where_the_grid_is_small() -> None:
    access = only(COPY.format(offset="i", mask="None"), x="*fp32", y="*fp32", n=0, BLOCK=256, grid="4")
    assert access.cost and access.cost.grid_sectors == 4 * 256 * 4 // 32


def test_loops_are_followed() -> None:
    text = (
        "def k(x, y, n, BLOCK: tl.constexpr):\n"
        "    i = tl.arange(0, BLOCK)\n"
        "    p = x + i\n"
        "    t = tl.zeros((BLOCK,), tl.float32)\n"
        "    for _ in range(n):\n"
        "        t += tl.load(p)\n"
        "        p += 1\n"
        "    tl.store(y + i, t)\n"
    )
    cost = only(text, x="*fp32", y="*fp32", n=64, BLOCK=256).cost
    assert cost and cost.vector_bytes == 4
    assert cost.sectors_per_request == pytest.approx(4.75, rel=0.1)  # runs of 128 bytes that start anywhere


# -- numbers
# -----------------------------------------------------------------------------------------------------------


def test_tiles_broadcast_transpose_and_reshape() -> None:
    rows, columns = Tile((2, 1), [0, 10]), Tile((1, 3), [0, 1, 2])
    total = apply(lambda a, b: a + b, rows, columns)
    assert (total.dims, total.data) == ((2, 3), [0, 1, 2, 10, 11, 12])
    assert transpose(total, (1, 0)).data == [0, 10, 1, 11, 2, 12]
    assert stretched(rows, (2, 3)) == [0, 0, 0, 10, 10, 10]
    assert reshape(rows, (2, 2), (4,)).data == [0, 0, 10, 10]


def test_programs_stand_for_the_whole_grid() -> None:
    assert len(program_weights((5,), 12)) == 5
    chosen = program_weights((640, 480), 12)
    assert sum(w for _, w in chosen) == pytest.approx(640 * 480)
    assert {p for p, _ in chosen} >= {(0, 0, 0), (639, 479, 0)}


def test_a_launch_from_pins() -> None:
    launch = Launch.from_pins(make_pins(["x=*bf16:8", "n=7"], "4,2", 8, "3.9", "sm80"))
    assert (launch.num_warps, launch.arch, launch.grid, launch.profile.name) == (8, 80, (4, 2), "3.9")
    assert (launch.pointers["x"].element_bytes, launch.pointers["x"].offset, launch.values["n"]) == (2, 8, 7)


def test_the_model_needs_neither_triton_nor_numpy() -> None:
    code = (
        "import sys, coalesce_lint.hardware.cost, coalesce_lint.twin, coalesce_lint.verify.compiled\n"
        "sys.exit(bool({'torch', 'triton', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
