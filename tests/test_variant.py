"""The algebra of the permutation, the rewriting of sources, and the statistics, without running kernels."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from coalesce_lint.verify import recorder
from coalesce_lint.verify.measuring import parse
from coalesce_lint.verify.plan import fill_outputs
from coalesce_lint.verify.statistics import ratio_of_medians
from coalesce_lint.verify.synthesize import SynthesisError, grid_of
from coalesce_lint.verify.synthesize import parse as parse_arguments
from coalesce_lint.verify.variant.build import Builder, Target, place_of
from coalesce_lint.verify.variant.follow import Follower
from coalesce_lint.verify.variant.permutation import Permutation, candidates
from coalesce_lint.verify.variant.proxy import reaches_control
from coalesce_lint.verify.variant.writer import Edits, apply

permutations = st.builds(
    lambda stride, extent, gap, length: Permutation(stride, extent, extent + gap, length),
    st.integers(1, 12), st.integers(1, 12), st.integers(0, 5), st.integers(1, 400),
)  # fmt: skip


@given(permutations)
def test_every_element_has_a_place_of_its_own(p: Permutation) -> None:
    places = p.offsets(np.arange(p.length))
    assert len(set(places.tolist())) == p.length
    assert places.min() >= 0 and places.max() < p.new_length


@given(permutations, st.integers(0, 400))
def test_neighbours_along_the_walked_dimension_become_neighbours(p: Permutation, start: int) -> None:
    here, there = start, start + p.stride
    if there < p.length and here % p.block // p.stride + 1 < p.extent:
        a, b = p.offsets(np.array([here, there]))
        assert b - a == 1


@given(permutations)
def test_permuting_and_back(p: Permutation) -> None:
    source = torch.arange(p.length, dtype=torch.int32)
    target = torch.full((p.new_length,), -1, dtype=torch.int32)
    p.permute(source, target)
    assert (target[torch.from_numpy(p.offsets(np.arange(p.length)))] == source).all()
    back = torch.zeros_like(source)
    p.restore(target, back)
    assert (back == source).all()


@given(permutations, st.integers(0, 399), st.booleans())
def test_a_step_from_the_origin_is_where_the_element_goes(p: Permutation, offset: int, folded: bool) -> None:
    if not (folded and p.is_ambiguous(offset)):
        assert p.step(offset, folded) == p.offsets(np.array([offset]))[0]
        assert p.step(-offset, folded) == -p.step(offset, folded)


def test_natural_rows_are_padded_to_whole_sectors() -> None:
    natural, padded, general = candidates(48, [(60, 48), (48, 1)], 2880, 4)
    assert (natural.extent, natural.pitch) == (60, 60)
    assert (padded.extent, padded.pitch) == (60, 64)
    assert general.extent == 64
    assert [p.pitch for p in candidates(48, [(64, 48), (48, 1)], 3072, 4)] == [64]


# rewriting


def closure(*sources: str) -> dict[str, Any]:
    functions: list[dict[str, Any]] = []
    names = {ast.parse(s).body[0].name: k for k, s in enumerate(sources)}  # type: ignore[attr-defined]
    for source in sources:
        known: dict[str, Any] = {"tl": {"kind": "module", "name": "triton.language"}}
        known.update({n: {"kind": "function", "id": k} for n, k in names.items()})
        tree = ast.parse(source).body[0]
        assert isinstance(tree, ast.FunctionDef)
        functions.append(
            {"name": tree.name, "path": "k.py", "line": 1, "column": 0, "source": source, "globals": known}
        )
    return {"functions": functions, "entry": 0, "files": {}, "sys_path": []}


def number(value: int) -> dict[str, Any]:
    return {"kind": "int", "value": value}


TENSOR = {"kind": "tensor"}


def variant(sources: list[str], permutation: Permutation, **arguments: Any) -> str:
    follower = Follower(closure(*sources), {"x_ptr": TENSOR, **arguments})
    return Builder(follower, [Target(("x_ptr",), permutation)], "variant").build().source


def test_everything_that_is_not_changed_stays_as_it_was() -> None:
    source = (
        "def k(x_ptr, n, BLOCK: tl.constexpr):\n"
        "    # größer ist besser\n"
        "    i = tl.arange( 0,BLOCK )   # lanes\n"
        "    x = tl.load(\n"
        "        x_ptr + i*n + tl.program_id(0),  # one column\n"
        "        mask = i<n)\n"
    )
    text = variant([source], Permutation(64, 32, 32, 2048), n=number(64), BLOCK=number(32))
    assert text == source.replace(
        "def k(x_ptr, n, BLOCK: tl.constexpr)", "def variant(x_ptr, n, BLOCK: tl.constexpr, _k2)"
    ).replace("    x = tl.load(\n", "    _v1 = tl.program_id(0)\n    x = tl.load(\n").replace(
        "x_ptr + i*n + tl.program_id(0),", "x_ptr + (i + _v1 * _k2),"
    )


def test_numbers_known_to_the_compiler_stay_numbers() -> None:
    source = (
        "def k(x_ptr, BLOCK: tl.constexpr):\n    i = tl.arange(0, BLOCK)\n    tl.load(x_ptr + i * 4 + 3)\n"
    )
    text = variant([source], Permutation(4, 32, 32, 128), BLOCK=number(32))
    assert text.endswith("tl.load(x_ptr + (i + 96))\n")


def test_a_group_of_terms_is_kept_together() -> None:
    source = (
        "def k(x_ptr, s, BLOCK: tl.constexpr):\n"
        "    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        "    tl.load(x_ptr + rows[:, None] * s + tl.arange(0, 8)[None, :])\n"
    )
    text = variant([source], Permutation(8, 64, 64, 512), s=number(8), BLOCK=number(16))
    assert "tl.load(x_ptr + (rows[:, None] + _v1[None, :] * _k2))" in text


def test_a_loop_that_walks_two_pointers() -> None:
    source = (
        "def k(x_ptr, s, n, BLOCK: tl.constexpr):\n"
        "    p = x_ptr + tl.arange(0, BLOCK) * s\n"
        "    for k in range(n):\n"
        "        tl.load(p)\n"
        "        if k > 2:\n"
        "            p += 1\n"
        "        else:\n"
        "            p = p + 2\n"
    )
    text = variant([source], Permutation(8, 64, 64, 512), s=number(8), n=number(4), BLOCK=number(16))
    walked = [line.strip() for line in text.split("\n") if "_p1" in line]
    assert walked[0].startswith("_p1 = x_ptr + ") and walked[1] == "tl.load(_p1)"
    assert sorted(walked[2:]) == ["_p1 = _p1 + _k3", "_p1 = _p1 + _k4"]


#: Offsets of two caches, from a block that the helper looks up.
OFFSETS = """def offsets(t_ptr, start, lanes, s, d, MASKED: tl.constexpr = False):
    if MASKED:
        block = tl.load(t_ptr + start, mask=start < 3)
    else:
        block = tl.load(t_ptr + start)
    inner = start % 3
    first = block * d + lanes * s + inner
    second = block * 2
    return first, second
"""


def test_a_helper_hands_back_what_its_offsets_are_made_of() -> None:
    source = (
        "def k(x_ptr, table_ptr, s, d, BLOCK: tl.constexpr):\n"
        "    i = tl.arange(0, BLOCK)\n"
        "    for start in range(4):\n"
        "        here, there = offsets(table_ptr, start, i, s, d)\n"
        "        x = tl.load(x_ptr + here)\n"
        "        tl.store(table_ptr + i, there)\n"
    )
    permutation = Permutation(8, 64, 64, 2048)
    text = variant([source, OFFSETS], permutation, s=number(8), d=number(512), table_ptr=TENSOR)
    assert "    return first, second, _v1, inner\n" in text
    assert (
        "        _r3, _r4, _v5, _v7 = offsets_2(table_ptr, start, i, s, d)\n"
        "        here, there = (_r3, _r4,)\n"
        "        x = tl.load(x_ptr + (_v5 * _k6 + i + _v7 * _k8))\n"
    ) in text


def test_a_pointer_and_a_sum_that_helpers_return() -> None:
    source = (
        "def k(x_ptr, s, BLOCK: tl.constexpr):\n"
        "    i = tl.arange(0, BLOCK)\n"
        "    x = tl.load(at(x_ptr, i, s))\n"
        "    y = tl.load(x_ptr + place(i, s, False) + 1)\n"
    )
    at = "def at(p, lanes, s):\n    return p + lanes * s + tl.program_id(0) % 4\n"
    place = (
        "def place(lanes, s, WHOLE: tl.constexpr):\n"
        "    if WHOLE:\n"
        "        return lanes\n"
        "    column = tl.program_id(0) % 4\n"
        "    return (lanes * s  # rows\n"
        "        + column)\n"
    )
    text = variant([source, at, place], Permutation(8, 64, 64, 2048), s=number(8), BLOCK=number(16))
    assert "    return p + lanes * s + _v1, _v1\n" in text
    assert "    _r3, _v4 = at_2(x_ptr, i, s)\n    x = tl.load(x_ptr + (i + _v4 * _k5))\n" in text
    assert "    _r7, _v8 = place_6(i, s, False)\n    y = tl.load(x_ptr + (i + _v8 * _k5 + _k5))\n" in text


def test_one_line_bodies_and_keywords() -> None:
    text = apply("def f(a):\n    if a: b = a\n    return b\n", Edits(after={(2, 10): ["c = b"]}, name="g"))
    assert text == "def g(a):\n    if a: b = a\n    return b\n" or "c = b" in text


@pytest.mark.parametrize(
    ("rest", "reached"),
    [
        ("    tl.store(y_ptr + i, x)\n", None),
        ("    z = x + 1\n    tl.store(y_ptr + z, i)\n", "an address"),
        ("    tl.store(y_ptr + i, i, mask=x > 0)\n", "a mask"),
        ("    tl.store(y_ptr + i, i, x > 0)\n", "a mask"),
        ("    if tl.sum(x) > 0:\n        tl.store(y_ptr + i, i)\n", "a branch"),
    ],
)
def test_what_a_value_reaches(rest: str, reached: str | None) -> None:
    source = (
        "def k(x_ptr, y_ptr, BLOCK: tl.constexpr):\n    i = tl.arange(0, BLOCK)\n    x = tl.load(x_ptr + i)\n"
    )
    follower = Follower(closure(source + rest), {"x_ptr": TENSOR, "y_ptr": TENSOR, "BLOCK": number(32)})
    site = next(s for s in follower.sites if s.kind == "load")
    assert reaches_control(site, follower) == reached


def test_outputs_begin_with_what_no_kernel_leaves() -> None:
    def tensor(dtype: str, storage: int) -> dict[str, Any]:
        return {"kind": "tensor", "dtype": dtype, "storage": storage}

    arguments = {
        "x_ptr": tensor("float32", 0), "out_ptr": tensor("float16", 1), "count_ptr": tensor("int32", 2),
        "both_ptr": tensor("float32", 3), "seldom_ptr": tensor("int32", 4),
    }  # fmt: skip
    launch: dict[str, Any] = {"arguments": arguments, "storages": [{} for _ in arguments]}
    fill_outputs(launch, {"written": [1, 2, 3, 4], "read": [0, 3]}, {"x_ptr", "seldom_ptr"})
    assert launch["storages"] == [{}, {"filler": 0xFF}, {"filler": 0}, {}, {}]
    assert torch.full((2,), 0xFF, dtype=torch.uint8).view(torch.float16).isnan().all()


# numbers


@settings(max_examples=20, deadline=None)
@given(st.floats(1.0, 10.0), st.integers(0, 1000))
def test_an_interval_holds_the_ratio(factor: float, seed: int) -> None:
    chance = np.random.default_rng(seed)
    after = chance.normal(100, 1, 60)
    ratio, low, high = ratio_of_medians((after * factor).tolist(), after.tolist())
    assert low <= ratio <= high
    assert abs(ratio - factor) < 1e-9


def test_the_metrics_of_ncu_are_read() -> None:
    names = ["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "dram__bytes_read.sum"]
    text = '==PROF== Connected\n"ID","Kernel Name","' + '","'.join(names) + '"\n"","","sector","byte"\n'
    text += '"0","column_sum","16,777,216","6.5e+07"\n"1","other(int)","5","7"\n'
    assert parse(text) == {
        "column_sum": {"load_sectors": 16777216.0, "dram_read_bytes": 6.5e7},
        "other": {"load_sectors": 5.0, "dram_read_bytes": 7.0},
    }


def test_grids_and_tensors_of_the_command_line() -> None:
    assert grid_of("cdiv(n, BLOCK) * 2, max(3, n // 100)", {"n": 1000, "BLOCK": 64}) == (32, 10)
    with pytest.raises(SynthesisError, match="m is no integer argument"):
        grid_of("m", {"n": 1})
    with pytest.raises(SynthesisError, match="is not read"):
        grid_of("__import__('os')", {})
    found = parse_arguments(
        ["x=float16[4,8]strides=(16,1)offset=2", "i=int32[5]below=7", "n=3", "t=tl.float32"]
    )
    assert found["x"] == {
        "tensor": True, "type": "fp16", "size": [4, 8], "stride": [16, 1], "offset": 2, "highest": None,
    }  # fmt: skip
    assert (found["i"]["highest"], found["n"], found["t"]) == (7, 3, "tl.float32")


# columns


def test_the_place_of_a_call_counts_characters() -> None:
    source = 'def k(x_ptr, n):\n    größe = "äöü"; x = tl.load(x_ptr)\n'
    call = next(n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Call))
    path, line, column = place_of({"path": "k.py", "line": 5, "column": 4, "source": source}, call)
    assert (path, line) == ("k.py", 6)
    assert source.split("\n")[1][column - 4 :].startswith("tl.load(")


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 knows lines only")
def test_the_place_of_a_running_call_counts_characters(tmp_path: Path) -> None:
    file = tmp_path / "k.py"
    file.write_text('def k(ask):\n    größe = "äöü"; x = ask()\n    return x\n')
    namespace: dict[str, Any] = {}
    exec(compile(file.read_text(), str(file), "exec"), namespace)
    told = namespace["k"](lambda: recorder.place_of(sys._getframe(1)))
    assert told == (str(file), 2, file.read_text().split("\n")[1].index("ask()"))
