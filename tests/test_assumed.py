"""Launches that are assumed where none is pinned, configurations of autotuners, and what is told of both."""

from __future__ import annotations

import json

import pytest
from support import run

from coalesce_lint.assume import Assumptions, assumed_launches
from coalesce_lint.engine import analyze_text
from coalesce_lint.kernels.configs import Config, configs_of
from coalesce_lint.kernels.source import read_module
from coalesce_lint.pins import make_pins

HEAD = "import triton\nimport triton.language as tl\n\n"
TILE = """
@triton.jit
def tile(x_ptr, y_ptr, pitch, sn, n, FLAG: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr):
    m = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    k = tl.arange(0, COLS)
    x = tl.load(x_ptr + m[:, None] * (pitch * 2) + k[None, :] * sn, mask=m[:, None] < n)
    tl.store(y_ptr + m[:, None] * COLS + k[None, :], x)
"""


def configs(decorator: str, before: str = "") -> list[Config]:
    text = HEAD + before + decorator + "\n" + TILE.lstrip()
    return configs_of(read_module(text, "k.py").functions["tile"])


def launches(text: str, assumptions: Assumptions | None = None, pins=None):
    report = analyze_text(HEAD + text, "k.py")
    (kernel,) = report.kernels
    fn = read_module(HEAD + text, "k.py").functions[kernel.name]
    return assumed_launches(fn, kernel, assumptions or Assumptions(), pins)


@pytest.mark.parametrize(
    ("before", "decorator"),
    [
        (
            "",
            "@triton.autotune([triton.Config({'ROWS': 32}, num_warps=2), "
            "triton.Config({'ROWS': 64})], key=[])",
        ),
        (
            "C = [triton.Config({'ROWS': r}, num_warps=w) for r, w in [(32, 2), (64, 4)]]\n",
            "@triton.autotune(configs=C, key=[])",
        ),
        (
            "def cs():\n    rows = [32, 64]\n"
            "    return [triton.Config({'ROWS': r}, num_warps=r // 16) for r in rows]\n",
            "@triton.autotune(configs=cs(), key=['n'])",
        ),
        (
            "A = [triton.Config({'ROWS': 32}, num_warps=2)]\n",
            "@triton.autotune(configs=A + [triton.Config(kwargs=dict_of, num_warps=2), "
            "triton.Config({'ROWS': 2**6})], key=[])",
        ),
    ],
)  # fmt: skip
def test_configurations_are_read_from_plain_expressions(before, decorator):
    assert configs(decorator, before) == [Config({"ROWS": 32}, 2), Config({"ROWS": 64}, 4)]


@pytest.mark.parametrize(
    "decorator",
    [
        "",
        "@triton.autotune(configs=from_somewhere(), key=[])",
        "@triton.autotune(**settings)",
        "@triton.autotune()",
    ],
)
def test_configurations_that_are_not_plain_are_none(decorator):
    assert configs(decorator) == []


def test_configurations_without_end_are_cut():
    endless = "@triton.autotune(configs=[triton.Config({'ROWS': r}) for r in range(10**9)], key=[])"
    assert 0 < len(configs(endless)) <= 256


def test_the_assumed_launch_is_kind():
    (launch,) = launches(TILE)
    assert launch.values["sn"] == 1 and launch.values["pitch"] % 16 == 0
    assert launch.values["pitch"] != launch.values["n"]
    assert launch.values["ROWS"] == launch.values["COLS"] == 64
    assert "FLAG" not in launch.values
    assert {p.element_bytes for p in launch.pointers.values()} == {4}
    assert launch.assumed == [
        "fp32 elements", "arguments that are multiples of 16", "sn = 1", "ROWS = 64", "COLS = 64", "4 warps",
    ]  # fmt: skip


def test_nothing_is_assumed_of_strides_where_the_setting_says_so():
    (launch,) = launches(TILE, Assumptions(innermost=False))
    assert launch.values["sn"] % 16 == 0


def test_element_types_come_from_the_longest_pattern_that_matches():
    (launch,) = launches(TILE, Assumptions(element_types={"*": "fp16", "y_*": "fp64"}))
    assert launch.pointers["x_ptr"].element_bytes == 2
    assert launch.pointers["y_ptr"].element_bytes == 8


def test_what_is_pinned_is_not_assumed():
    pins = make_pins(["x_ptr=*fp16", "COLS=8", "pitch=100"], num_warps=2, triton="3.9")
    (launch,) = launches(TILE, pins=pins)
    assert launch.pointers["x_ptr"].element_bytes == 2 and launch.values["COLS"] == 8
    assert launch.values["pitch"] == 100 and launch.num_warps == 2 and launch.profile.name == "3.9"
    assert launch.assumed == [
        "fp32 elements",
        "arguments that are multiples of 16",
        "sn = 1",
        "ROWS = 64",
        "2 warps",
    ]


def test_explain_says_what_it_assumes_and_the_range_over_configurations(tmp_path):
    file = tmp_path / "k.py"
    autotune = "@triton.autotune([triton.Config({'COLS': c}) for c in (4, 64)], key=[])\n"
    file.write_text(HEAD + autotune + TILE.lstrip())
    told = run("explain", file).stdout
    assert "  costs assume fp32 elements, arguments that are multiples of 16, sn = 1, 4 warps" in told
    assert "(the first of 2 configurations)" in told
    lines = told.splitlines()
    costs = [line.split()[0:2] for line in lines if line.startswith(("    cost", "    to "))]
    assert costs == [["cost", "16"], ["to", "16"], ["cost", "8"]]
    (kernel,) = json.loads(run("explain", "--format", "json", file).stdout)["kernels"]
    access = kernel["accesses"][0]
    assert access["cost"] is None
    assert access["assumed_cost"]["launches"] == 2
    assert access["assumed_cost"]["worst"]["limited_by"] == "stride"


def test_a_pinned_cost_is_not_assumed(tmp_path):
    file = tmp_path / "k.py"
    file.write_text(HEAD + TILE.lstrip())
    pins = ["x_ptr=*fp32", "y_ptr=*fp32", "pitch=512", "sn=1", "n=64", "FLAG=0", "ROWS=16", "COLS=64"]
    told = run("explain", "--format", "json", *(f"--arg={p}" for p in pins), "--grid", "4", file)
    (kernel,) = json.loads(told.stdout)["kernels"]
    accesses = kernel["accesses"]
    assert all(a["assumed_cost"] is None and a["cost"]["sectors_per_request"] == 16 for a in accesses)


def test_min_waste_keeps_what_wastes_less(tmp_path):
    file = tmp_path / "k.py"
    file.write_text(
        HEAD + "@triton.jit\ndef k(x_ptr, y_ptr, B: tl.constexpr):\n    i = tl.arange(0, B)\n"
        "    tl.store(y_ptr + i, tl.load(x_ptr + 3 * i) + tl.load(x_ptr + 16 * i))\n"
    )
    (tmp_path / "pyproject.toml").write_text("[tool.coalesce-lint]\nmin-waste = 4\n")
    told = run("--select", "CL101", file)
    assert told.stdout.count("CL101") == 1 and "step by 16 elements" in told.stdout


CONTRADICTION = """
@triton.jit
def halves(x_ptr, i_ptr, y_ptr, A: tl.constexpr, B: tl.constexpr):
    h = tl.arange(0, A // 32)
    k = tl.arange(0, B // 16)
    at = tl.load(i_ptr + h)
    x = tl.load(x_ptr + at * B + k)
    tl.store(y_ptr + k, x + at)
"""


def test_made_up_extents_that_contradict_each_other_give_no_cost(tmp_path):
    """A and B are assumed to be equal, so that ``at * B + k`` would be no tile."""
    file = tmp_path / "k.py"
    file.write_text(HEAD + CONTRADICTION)
    shown = run("explain", str(file), "--format", "json", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert not shown.stderr
    accesses = json.loads(shown.stdout)["kernels"][0]["accesses"]
    assert [a["assumed_cost"] is not None for a in accesses] == [True, False, True]
