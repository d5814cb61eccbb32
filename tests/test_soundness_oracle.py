"""The evaluator and the comparison themselves: known addresses, and planted mistakes that must be noticed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).resolve().parent
if str(TESTS) not in sys.path:
    sys.path.insert(0, str(TESTS))

pytest.importorskip("numpy")
from oracle.claims import Run  # noqa: E402
from oracle.compare import compare  # noqa: E402
from oracle.execute import Launch, PointerArg, run_text  # noqa: E402

HEADER = "import triton\nimport triton.language as tl\n\n@triton.jit\n"


def offsets(body: str, how: Launch | None = None, **arguments: Any) -> list[list]:
    """Offsets of every access of a kernel whose body is given; ``x`` and ``y`` are pointers."""
    return [r.offset.tolist() for r in records(body, how, **arguments)]


def records(body: str, how: Launch | None = None, **arguments: Any) -> list:
    names = [f"{n}: tl.constexpr" if n.isupper() else n for n in arguments]
    lines = "\n".join("    " + line for line in body.splitlines())
    text = f"{HEADER}def kernel(x, y, {', '.join(names)}):\n{lines}\n"
    pointers = {"x": PointerArg(), "y": PointerArg("int32")}
    return run_text(text, "kernel", {**pointers, **arguments}, how or Launch())


def test_tensors_divide_as_c_does():
    assert offsets("i = tl.arange(0, 8) - 4\ntl.load(x + i // 3)") == [[-1, -1, 0, 0, 0, 0, 0, 1]]
    assert offsets("i = tl.arange(0, 8) - 4\ntl.load(x + i % 3)") == [[-1, 0, -2, -1, 0, 1, 2, 0]]


def test_runtime_scalars_divide_as_c_does_and_constexprs_as_python_does():
    assert offsets("tl.load(x + (n - 7) // 2)", n=4) == [-1]
    assert offsets("tl.load(x + (N - 7) // 2)", N=4) == [-2]
    # An assigned number is a runtime scalar, unless it is declared constexpr.
    assert offsets("a = -3\ntl.load(x + a // 2)", n=0) == [-1]
    assert offsets("a: tl.constexpr = -3\ntl.load(x + a // 2)", n=0) == [-2]


def test_shifts_keep_the_sign():
    assert offsets("tl.load(x + ((tl.arange(0, 4) - 2) >> 1))") == [[-1, -1, 0, 0]]


def test_tiles_take_the_shape_that_the_source_says():
    body = "m = tl.arange(0, 2)\nn = tl.arange(0, 4)\ntl.load(x + m[:, None] * s + n[None, :])"
    assert offsets(body, s=10) == [[[0, 1, 2, 3], [10, 11, 12, 13]]]
    assert offsets("tl.load(x + tl.trans(tl.reshape(tl.arange(0, 4), [2, 2])))") == [[[0, 2], [1, 3]]]
    assert offsets("i = tl.arange(0, 2)\ntl.load(x + tl.interleave(i, i + 8))") == [[0, 8, 1, 9]]
    assert offsets("i = tl.arange(0, 2)\ntl.load(x + tl.join(i, i + 8))") == [[[0, 8], [1, 9]]]


def test_loops_branches_and_carried_pointers_run():
    body = "p = x + tl.arange(0, 2)\nfor k in range(0, n, 4):\n    tl.load(p)\n    p += 10"
    assert offsets(body, n=9) == [[0, 1], [10, 11], [20, 21]]
    body = "i = tl.arange(0, 2)\nif FLAG and n > 3:\n    i += 5\ntl.store(x + i, 1.0)"
    assert offsets(body, n=4, FLAG=True) == [[5, 6]]
    assert offsets(body, n=4, FLAG=False) == [[0, 1]]


def test_block_pointers_and_descriptors():
    body = "b = tl.make_block_ptr(x, (4, 8), (s, 1), (1, 2), (2, 2), (1, 0))\ntl.load(tl.advance(b, (0, 2)))"
    assert offsets(body, s=8) == [[[12, 13], [20, 21]]]
    body = "d = tl.make_tensor_descriptor(x, [4, 8], [s, 1], [2, 2])\nd.store([1, 0], d.load([0, 4]))"
    assert offsets(body, s=8) == [[[4, 5], [12, 13]], [[8, 9], [16, 17]]]


def test_a_pointer_cast_changes_the_size_of_a_step():
    body = (
        "p = x.to(tl.pointer_type(tl.int8)) + 4\ntl.load(p.to(tl.pointer_type(tl.float32)) + tl.arange(0, 2))"
    )
    assert offsets(body) == [[1, 2]]


def test_loaded_values_are_arbitrary_but_always_the_same():
    body = "tl.load(x + tl.load(y + tl.arange(0, 8)))"
    first, again, other = (offsets(body, Launch(seed=s))[1] for s in (1, 1, 2))
    assert first == again != other
    assert all(0 <= v < 61 for v in first)


def claim(pattern: str, line: int = 7, column: int = 0, **more: Any) -> dict[str, Any]:
    base = {"line": line, "column": column + 4, "pattern": pattern, "lane_axis": 0, "lane_stride": "1"}
    rest = {"condition": None, "notes": [], "call_chain": [], "axes": [], "offset": None, "reason": None}
    made = {**base, **rest, **more}
    made["axes"] = made["axes"] or [{"axis": 0, "extent": "16", "stride": None}]
    return made


@pytest.mark.parametrize(
    ("offset", "claimed", "expected"),
    [
        ("i", claim("contiguous"), "agree"),
        ("-i", claim("contiguous", notes=["reversed"]), "agree"),
        ("i * n", claim("contiguous"), "wrong contiguous"),
        ("i % 4", claim("contiguous"), "wrong contiguous"),
        ("i % 4", claim("contiguous", notes=["wrap(4)"]), "agree"),
        ("i // 4 * n + i % 4", claim("contiguous", notes=["run=4"]), "agree"),
        ("i // 4 * n + i % 4", claim("contiguous", notes=["run=8"]), "wrong notes"),
        ("i ^ 1", claim("contiguous", notes=["run=2"]), "agree"),
        ("i // 2", claim("contiguous", notes=["repeat=2"]), "agree"),
        ("i // 2", claim("contiguous"), "wrong contiguous"),
        ("i // 2", claim("contiguous", notes=["repeat=4"]), "wrong notes"),
        ("i * n", claim("contiguous", notes=["run=2", "run=4"]), "wrong contiguous"),
        ("i * n", claim("contiguous", notes=["run=8", "repeat=4", "clamp"]), "wrong contiguous"),
        ("i * n", claim("contiguous", notes=["run=4", "repeat=4", "clamp"]), "wrong contiguous"),
        ("n", claim("uniform", axes=[]), "wrong shape"),
        ("i * 0 + n", claim("uniform", lane_axis=None), "agree"),
        ("i // 8", claim("uniform", lane_axis=None), "wrong uniform"),
        ("i * n", claim("strided", lane_stride="n"), "agree"),
        ("i * n", claim("strided", lane_stride="2*n"), "wrong stride"),
        ("i + n", claim("strided", lane_stride="n"), "wrong stride"),
        ("i + n", claim("strided", lane_stride="loaded0"), "missed contiguous"),
        ("i * s", claim("parametric", lane_stride="s", condition="s == 1"), "agree"),
        ("i * s * 2", claim("parametric", lane_stride="2*s", condition="s == 1"), "wrong parametric"),
        ("i * s", claim("parametric", lane_stride="s", condition="n == 5"), "wrong parametric"),
        ("tl.load(y + i)", claim("gather", column=10), "missing access"),
        ("i * 3", claim("gather"), "wrong gather"),
        ("i * 3", claim("contiguous", axes=[{"axis": 0, "extent": "8", "stride": None}]), "wrong shape"),
        ("i", claim("contiguous", axes=[{"axis": 0, "extent": "16", "stride": "n"}]), "wrong axis"),
        ("i + n", claim("contiguous", offset="i0 + n"), "agree"),
        ("i + n", claim("contiguous", offset="i0 + 2*n"), "wrong offset"),
        ("i * n", claim("unknown"), "undecided"),
    ],
)
def test_a_claim_is_held_against_the_addresses(offset: str, claimed: dict[str, Any], expected: str):
    body = f"i = tl.arange(0, 16)\ntl.store(x + {offset}, 1.0)"
    values = [{"n": 5, "s": 3}, {"n": 8, "s": 1}, {"n": 13, "s": 7}]
    runs = [Run(v, records(body, **v), records(body, Launch(seed=9), **v)) for v in values]
    kinds = {o.kind if o.status == "disagree" else o.status for o in compare([claimed], runs)}
    assert expected in kinds


def test_a_gather_depends_on_what_is_loaded():
    body = "i = tl.load(y + tl.arange(0, 16))\ntl.store(x + i, 1.0)"
    runs = [Run({}, records(body), records(body, Launch(seed=9)))]
    kinds = [o.status for o in compare([claim("gather"), claim("contiguous", line=6, column=4)], runs)]
    assert kinds == ["agree", "agree"]


def test_the_worst_of_several_branches_is_not_refuted_by_the_better_one():
    body = "i = tl.arange(0, 16)\nj = i\nif n > 6:\n    j = i * s\ntl.store(x + j, 1.0)"
    values = [{"n": 5, "s": 3}, {"n": 8, "s": 9}]
    runs = [Run(v, records(body, **v)) for v in values]
    said = claim("strided", line=10, lane_stride="s", notes=["branch"])
    assert [o.status for o in compare([said], runs)] == ["agree"]
    said = claim("contiguous", line=10, notes=["branch"])
    assert [o.kind for o in compare([said], runs)] == ["wrong contiguous"]
