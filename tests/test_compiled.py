"""The compiled oracle: layouts and instructions of the compiler, addresses of the interpreter."""

from __future__ import annotations

import importlib.util
import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("triton")
pytest.importorskip("torch")

from coalesce_lint.hardware.linear_layout import LinearLayout, blocked, sliced
from coalesce_lint.hardware.programs import program_weights
from coalesce_lint.pins import make_pins
from coalesce_lint.verify import worker
from coalesce_lint.verify.compiled import Prediction, compile_kernels, predict
from coalesce_lint.verify.request import Request, parse_pointer
from coalesce_lint.verify.sass import apply_sass, tag_ptx
from coalesce_lint.verify.ttgir import Locations, operations, parse_layout

HERE = Path(__file__).resolve().parent
KERNELS = HERE / "data" / "compiled_kernels.py"
SAMPLE = [
    "copy_f16_1024", "copy_f64_128", "copy_misaligned_base", "strided_const_3", "column_sum_1024",
    "tile_unspec_rr_f32", "tile_rc_f32", "tile_narrow_f16_8", "wrap_inner_997", "split_const_4_16", "reverse",
    "paged_gather", "row_gather", "walk_cols", "bptr_col_01", "kv_read_C", "nchw_channel", "reshape_offsets",
]  # fmt: skip


def load_benchmark(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, HERE.parent / "benchmarks" / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_the_oracle_agrees_with_hardware_counters() -> None:
    truth = load_benchmark("compiled_truth")
    cases = [c for c in json.loads(truth.truth_file().read_text()) if c["case"] in SAMPLE]
    predictions = predict([truth.request_of(c) for c in cases])
    rows = [(c["case"], *r) for c, p in zip(cases, predictions, strict=True) for r in truth.compare(c, p)]
    assert len(rows) >= 30
    assert [r for r in rows if not r[2]] == []


@pytest.fixture(scope="module")
def edge() -> dict[str, Prediction]:
    p = "*fp32"
    matmul = {
        "a_ptr": "*fp16", "b_ptr": "*fp16", "bias": p, "c_ptr": "*fp16", "cnt": "*i32", "M": 512, "N": 512,
        "K": 512, "sam": 512, "sbk": 512, "scm": 512, "BM": 64, "BN": 64, "BK": 32,
    }  # fmt: skip
    requests = {
        "nested": request("Box.nested", {"x_ptr": p, "y_ptr": p, "n": 65000, "BLOCK": 1024}),
        "twice": request("twice", {"x_ptr": p, "y_ptr": p, "n": 65536, "s": 2, "BLOCK": 512}),
        "unrolled": request("unrolled", {"x_ptr": p, "y_ptr": p, "BLOCK": 512}),
        "equal": request("equal", {"x_ptr": p, "y_ptr": p, "BLOCK": 512}),
        "loops": request("loops", {"x_ptr": p, "y_ptr": p, "n": 10000, "BLOCK": 512}),
        "mm": request("mm", matmul, (8, 8)),
        "mm80": request("mm", matmul, (8, 8), arch=80),
        "incomplete": request("twice", {"x_ptr": p}),
        "missing": request("no_such_kernel", {}),
    }
    return dict(zip(requests, predict(list(requests.values())), strict=True))


def request(kernel: str, arguments: dict[str, Any], grid: tuple[int, ...] = (64,), **more: Any) -> Request:
    return Request(str(KERNELS), kernel, arguments, grid, **more)


def rows(prediction: Prediction, kind: str) -> list[tuple[float, float | None]]:
    """(requests a warp, sectors a request) of a kind's accesses, in program order."""
    assert prediction.error is None
    return [
        (round(s.requests_per_warp, 3), s.sectors_per_request) for s in prediction.sites if s.kind == kind
    ]


def test_a_kernel_within_a_class_is_found_at_its_columns(edge: dict[str, Prediction]) -> None:
    load, _store = edge["nested"].sites
    assert load.places[0][1:] == (13, 28)
    assert rows(edge["nested"], "load")[0] == (
        7.938,
        pytest.approx(16, rel=0.01),
    )  # scalar, for 65000 % 16 != 0


def test_a_helper_called_twice_has_two_costs(edge: dict[str, Prediction]) -> None:
    assert [len(s.places) for s in edge["twice"].sites] == [2, 2, 1]
    assert rows(edge["twice"], "load") == [(1.0, 16.0), (4.0, 32.0)]


def test_unrolled_loops_keep_their_copies_apart(edge: dict[str, Prediction]) -> None:
    static, dynamic = (s for s in edge["unrolled"].sites if s.kind == "load")
    assert static.executions == pytest.approx(3 * 64)
    assert static.requests == pytest.approx((1 + 4 + 4) * 4 * 64)  # strides 1, 2, 3 in elements
    assert dynamic.requests <= 4 * 4 * 64  # one of the four loads equals the first static one


def test_equal_loads_are_merged(edge: dict[str, Prediction]) -> None:
    assert rows(edge["equal"], "load") == [(1.0, 16.0), (0.0, None), (1.0, 2.0)]


def test_scalars_and_atomics_are_counted(edge: dict[str, Prediction]) -> None:
    assert rows(edge["loops"], "store") == [(0.25, 1.0)]
    assert rows(edge["loops"], "atomic")[0] == (1.0, 16.0)


@pytest.mark.parametrize("name", ["mm", "mm80"])
def test_pipelined_copies_and_tensor_core_layouts(edge: dict[str, Prediction], name: str) -> None:
    a, b, bias = rows(edge[name], "load")
    assert a == b == (2.0, 16.0)
    assert bias[1] == 1.0
    assert edge[name].sites[0].executions == pytest.approx(64 * 512 / 32)


def test_what_fails_says_why(edge: dict[str, Prediction]) -> None:
    assert "arguments y_ptr, n, s, BLOCK have no value" in str(edge["incomplete"].error)
    assert edge["incomplete"].missing == ["y_ptr", "n", "s", "BLOCK"]
    assert "no_such_kernel" in str(edge["missing"].error)


def test_a_file_that_cannot_be_imported_is_an_error(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("raise RuntimeError('not today')\n")
    answer = compile_kernels([Request(str(broken), "k", {})])[0]
    assert "not today" in answer["error"]


def test_a_hanging_file_times_out(tmp_path: Path) -> None:
    slow = tmp_path / "slow.py"
    slow.write_text("import time\ntime.sleep(60)\n")
    answer = compile_kernels([Request(str(slow), "k", {})], timeout=8.0)[0]
    assert "timed out" in answer["error"]


def test_a_crash_or_a_hang_costs_its_own_task_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "moody.py").write_text(
        "import os, time\n"
        "from coalesce_lint.verify import worker\n"
        "def answer(task):\n"
        "    if task['kind'] == 'crash':\n"
        "        os.abort()\n"
        "    if task['kind'] == 'hang':\n"
        "        time.sleep(60)\n"
        "    return {'done': task['kind']}\n"
        "worker.main(lambda: answer)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    kinds = ("good", "crash", "good", "hang", "good")
    answers = worker.run("moody", [{"kind": kind, "seconds": 4} for kind in kinds], 120)
    assert [a.get("done") for a in answers] == ["good", None, "good", None, "good"]
    assert answers[1]["error"].startswith("the worker ended with -6")
    assert answers[3]["error"] == "timed out after 4 s"


def triton_layout(text: str, shape: tuple[int, ...]) -> LinearLayout:
    """Triton's own conversion, with the registers that a slice only repeats left in."""
    from coalesce_lint.verify.compile_worker import convert_layout

    return convert_layout(text, shape)


def test_blocked_layouts_are_those_of_triton() -> None:
    chance = random.Random(7)
    for _ in range(60):
        rank = chance.choice([1, 2, 3])
        order = chance.sample(range(rank), rank)
        sizes = [[1] * rank for _ in range(3)]
        for counts, bits in zip(sizes, (chance.randrange(5), 5, chance.randrange(4)), strict=True):
            for _ in range(bits):
                counts[chance.randrange(rank)] *= 2
        shape = tuple(2 ** chance.randrange(0, 8 - rank) for _ in range(rank))
        text = (
            f"#ttg.blocked<{{sizePerThread = {sizes[0]}, threadsPerWarp = {sizes[1]}, "
            f"warpsPerCTA = {sizes[2]}, order = {order}}}>"
        )
        assert parse_layout(text, shape) == triton_layout(text, shape), (text, shape)


def test_a_slice_drops_its_axis() -> None:
    parent = blocked((256, 1), (1, 8), (8, 4), (4, 1), (1, 0))
    layout = sliced(parent, 1)
    assert layout.register == ((32,), (64,), (128,))
    assert layout.lane == ((0,), (0,), (1,), (2,), (4,))
    assert layout.owners("lane") == [n % 4 == 0 for n in range(32)]


def test_locations_follow_aliases_names_and_calls() -> None:
    text = """#loc1 = loc("f.py":3:4)
#loc2 = loc("v"(#loc1))
#loc3 = loc(callsite(#loc2 at #loc4))
#loc4 = loc("g.py":9:0)
"""
    assert Locations(text).chain("#loc3") == [("f.py", 3, 4), ("g.py", 9, 0)]


def test_operations_of_scalars_and_masks() -> None:
    text = """
    #b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
    #loc1 = loc("f.py":3:4)
      %0 = tt.load %p : !tt.ptr<i64> loc(#loc1)
      %1 = tt.load %q, %m : tensor<512x!tt.ptr<f16>, #b> loc(#loc1)
      tt.store %r, %v : tensor<512x!tt.ptr<i1>, #b> loc(#loc1)
    """.replace("\n    ", "\n")
    scalar, load, store = operations(text)
    assert (scalar.layout, scalar.element_bits) == (None, 64)
    assert (load.masked, load.element_bits, load.shape) == (True, 16, (512,))
    assert (store.masked, store.element_bits, store.kind) == (False, 8, "store")


def test_instructions_are_told_apart_by_their_line() -> None:
    ptx = "\t.loc 1 5000 4\n\tld.global.v4.b32 {a}, [x];\n\t@%p1 st.global.b8 [y], {b};\n"
    tagged, found = tag_ptx(ptx)
    assert [(i.opcode, i.bytes, i.line) for i in found] == [
        ("ld.global.v4.b32", 16, 5000),
        ("st.global.b8", 1, 5000),
    ]
    assert ".loc\t1 2 0" in tagged
    assert "5000" not in tagged
    apply_sass(found, '//## File "f", line 2\n        /*0100*/   @P0 STG.E.U8 desc[UR6][R2.64], R4 ;\n')
    assert [i.copies for i in found] == [0, 1]


def test_pointers_are_read_with_their_alignment() -> None:
    assert parse_pointer("*fp16") == ("fp16", 16)
    assert parse_pointer("*kfp32:4") == ("fp32", 4)
    assert parse_pointer(7) is None
    with pytest.raises(ValueError, match="fp99"):
        parse_pointer("*fp99")


def test_a_request_from_pins() -> None:
    pins = make_pins(["x=*bf16:8", "n=7", "BLOCK=64"], "4,2", 8, "3.6", "sm80")
    made = Request.from_pins("k.py", "k", pins, programs=8)
    assert made.arguments == {"x": "*bf16:8", "n": 7, "BLOCK": 64}
    assert (made.grid, made.num_warps, made.arch, made.programs) == ((4, 2), 8, 80, 8)


def test_programs_stand_for_the_grid() -> None:
    assert len(program_weights((3, 2), 24)) == 6
    chosen = program_weights((1000, 7), 24)
    assert sum(w for _, w in chosen) == pytest.approx(7000)
    assert {p for p, _ in chosen} >= {(0, 0, 0), (999, 6, 0)}
