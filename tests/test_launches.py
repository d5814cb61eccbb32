"""Reading host code: what launches pass, under either policy, and that nothing in it stops a run."""

from __future__ import annotations

import json
import os
import signal
import time

import pytest
from support import run

from coalesce_lint import check, consulted, files
from coalesce_lint.engine import analyze_text
from coalesce_lint.findings import all_rules
from coalesce_lint.launches import candidates, index
from coalesce_lint.launches.index import build
from coalesce_lint.launches.verdict import attach

KERNEL = """\
import torch
import triton
import triton.language as tl


@triton.jit
def rows(x_ptr, stride_m, stride_n, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    tl.store(x_ptr + row * stride_m + cols * stride_n, 0.0, mask=cols < n_cols)


"""

TURNED = "x = x.reshape(8, 64).t() if n > 1 else torch.empty(8, 64)"


def under(host: str, innermost: bool = True) -> list[tuple[str, str, str | None]]:
    """Pattern, basis and the stride along the lanes under each launch in ``host``."""
    text = KERNEL + host
    report = analyze_text(text, "k.py")
    attach(report.kernels, build([("k.py", text)], [], innermost).of_file("k.py"))
    (access,) = report.kernels[0].accesses
    return [(u.pattern, u.basis, u.axes[0].stride) for u in access.launches]


def launch(*body: str, parameters: str = "x") -> str:
    lines = [*body, "rows[(8,)](x, *x.stride(), 64, BLOCK=64)"]
    return f"def f({parameters}):\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ((), ("contiguous", "assumed", "1")),
        (("x = torch.empty(8, 64)",), ("contiguous", "proved", "1")),
        (("x = x.contiguous()",), ("contiguous", "proved", "1")),
        (("assert x.dtype == torch.half and x.is_contiguous()",), ("contiguous", "proved", "1")),
        (("assert x.stride(-1) == 1",), ("contiguous", "proved", "1")),
        (("m, n = x.shape", "last = x.stride(1) == 1", "assert last"), ("contiguous", "proved", "1")),
        (("x = torch.empty(64, 8).t()",), ("strided", "proved", "x.stride(1)")),
        (("x = torch.empty(8, 64)[:, ::2]",), ("strided", "proved", "2")),
        (("x = torch.empty(8, 64)[:, 8:]",), ("contiguous", "proved", "1")),
        (("x = torch.empty(1, 64).expand(8, -1)",), ("contiguous", "proved", "1")),
        (("x = torch.empty_like(x.contiguous())",), ("contiguous", "proved", "1")),
        (("x = torch.empty_like(x)",), ("contiguous", "assumed", "1")),
        # the arm that the condition leaves, unless it is another condition by then
        ((TURNED, "if n > 1:", "    return"), ("contiguous", "proved", "1")),
        ((TURNED, "if not n > 1:", "    return"), ("strided", "assumed", "x.stride(1)")),
        ((TURNED, "n -= 1", "if n > 1:", "    return"), ("parametric", "proved", None)),
        ((TURNED, "if n > 2:", "    return"), ("parametric", "proved", None)),
        (("if x.stride(-1) != 1:", "    x = x.contiguous()"), ("contiguous", "proved", "1")),
        # only one of the two is known to be 1
        (
            ("if x.stride(0) != 1 and x.stride(1) != 1:", "    x = x.contiguous()"),
            ("contiguous", "assumed", "1"),
        ),
        (("assert x.stride(0) == 1 or x.stride(1) == 1",), ("contiguous", "assumed", "1")),
        # of two dimensions the other one has stride 1
        (("m, n = x.shape", "assert x.stride(0) == 1"), ("parametric", "proved", None)),
    ],
)
def test_what_is_known_of_a_stride(body, told):
    assert under(launch(*body)) == [told]


def test_an_assert_says_nothing_of_another_tensor():
    assert under(launch("assert y.is_contiguous()", parameters="x, y")) == [("contiguous", "assumed", "1")]


def test_without_the_policy_nothing_is_assumed():
    assert under(launch(), innermost=False) == [("parametric", "proved", None)]
    assert under(launch("x = x.contiguous()", "m, n = x.shape"), innermost=False) == [
        ("contiguous", "proved", "1")
    ]


def test_a_loop_forgets_what_it_changes():
    body = ("x = x.contiguous()", "for _ in range(2):", "    x = x.t()")
    assert under(launch(*body))[0][0] == "parametric"


@pytest.mark.parametrize(
    "host",
    [
        "rows[grid](*unknown)\n",
        "def f(k, x):\n    k[(1,)](x, x.stride(0))\n",
        "def f(x):\n    getattr(mod, 'rows')[(1,)](x)\n    KERNELS['rows'][(1,)](x)\n",
        "def f(x):\n    return g(x)\n\n\ndef g(x):\n    rows[(1,)](x, 1, 1, 64, BLOCK=64)\n    return f(x)\n",
        "rows = rows\nrows[(1,)](rows, 1, 1, 64, BLOCK=64)\n",
        "def f(x):\n    x = "
        + "(" * 60
        + "x"
        + ")" * 60
        + "\n    rows[(1,)](x, *x.stride(), 64, BLOCK=64)\n",
        "def f(x):\n    rows[(1,)](x" + " + x" * 3000 + ", 1, 1, 64, BLOCK=64)\n",
    ],
)
def test_odd_host_code_does_no_harm(host):
    under(host)


def test_thousands_of_launches_take_linear_time():
    def seconds(n: int) -> float:
        host = "".join(f"def f{k}(x):\n    rows[(1,)](x, *x.stride(), 64, BLOCK=64)\n\n\n" for k in range(n))
        start = time.process_time()
        build([("k.py", KERNEL + host)], [], innermost=True)
        return time.process_time() - start

    seconds(10)
    few, many = seconds(300), seconds(3000)
    assert many < 30 * few + 0.5


def test_launches_in_another_file(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNEL)
    host = tmp_path / "host.py"
    host.write_text("from kernels import rows\n\n\n" + launch("x = x.t()").replace("torch", "t"))
    told = run("explain", "--isolated", "--format", "json", "--context", host, tmp_path / "kernels.py")
    (access,) = json.loads(told.stdout)["kernels"][0]["accesses"]
    (found,) = access["launches"]
    assert found["path"] == str(host) and found["line"] == 6
    assert (found["pattern"], found["basis"]) == ("strided", "assumed")
    assert found["axes"] == [{"axis": 0, "argument": "x.stride(1)", "stride": "x.stride(1)"}]
    told = run("--isolated", "--select", "CL201", tmp_path)
    assert told.stdout.count("CL201") == 1


def test_the_column_of_a_launch_counts_characters(tmp_path):
    (tmp_path / "k.py").write_text(KERNEL_AND_HOST)
    found = json.loads(run("--isolated", "--no-cache", "--format", "json", tmp_path).stdout)["findings"]
    (related,) = [r for f in found if f["code"] == "CL201" for r in f["related"]]
    line = KERNEL_AND_HOST.split("\n")[related["line"] - 1]
    assert line[related["column"] :].startswith("rows[(1,)](")


KERNEL_AND_HOST = """\
import torch
import triton
import triton.language as tl


@triton.jit
def rows(x_ptr, y_ptr, stride, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(y_ptr + lanes, tl.load(x_ptr + lanes * stride))


def run():
    x = torch.empty(64, 4096, device="cuda")
    y = torch.empty(4096, device="cuda")
    größe = "äöü"; rows[(1,)](x, y, x.stride(0), BLOCK=64)
"""


def test_dimensions_of_paths_that_returned() -> None:
    """What one path asks for does not say how many dimensions a tensor has on another."""
    body = """\
def f(x, blocked):
    if blocked:
        rows[(1,)](x, x.stride(3), x.stride(4), 64, BLOCK=64)
        return
    rows[(1,)](x, x.stride(2), x.stride(3), 64, BLOCK=64)
"""
    assert under(body) == [("contiguous", "assumed", "1")] * 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("add[(4,)](x)", True),
        ("from ops import add as k\nk[grid](x)", True),
        ("from ops import (\n    other,\n    add,\n)\nk[grid](x)", True),
        ("from ops import (  # noqa (again)\n    add as k,\n)\nk[grid](x)", True),
        ("from ops import \\\n    add as k\nk[grid](x)", True),
        ("k = ops.add\nk[grid](x)", True),
        ("k = ops.add if x else None\nk[grid](x)", True),
        ("k = y or ops.add or None\nk[grid](x)", True),
        ("wrap_triton(add)[grid](x)", True),
        ("def make():\n    return add\n\n\nk = make()\nk[grid](x)", True),
        ("table[0](x)", False),
        ("torch.add(x, y)\ntable[0](x)", False),
        ("add[(4,)]", False),
    ],
)
def test_files_that_may_launch_are_told_from_their_text(text, expected):
    source = b"@triton.autotune(configs=[], key=[])\n@triton.jit  # a kernel\ndef add(x):\n    pass\n"
    source += b"scale = triton.jit(f)\n"
    names = candidates.kernel_names([source])
    assert names == {"add", "scale"}
    data = text.encode()
    assert (files.may_launch(data) and candidates.may_launch_one_of(names)(data)) is expected


def _hosts(folder, count):
    """Kernels in one file, and ``count`` files that launch them, some through a helper in another file."""
    (folder / "kernels.py").write_text(KERNEL)
    (folder / "helper.py").write_text("def turned(x):\n    return x.t()\n")
    for k in range(count):
        how = "turned(x)" if k % 2 else "x.contiguous()"
        text = "from kernels import rows\nfrom helper import turned\n\n\n" + launch(f"x = {how}")
        (folder / f"host{k}.py").write_text(text)
    return [(str(p), p.read_text()) for p in sorted(folder.glob("*.py"))]


def test_processes_read_the_same_launches(tmp_path, monkeypatch):
    texts = _hosts(tmp_path, 12)
    with consulted.recording() as alone:
        expected = build(texts, [tmp_path], True)
    monkeypatch.setattr(index, "PARALLEL_FROM", 1)
    with consulted.recording() as together:
        found = build(texts, [tmp_path], True, jobs=3)
    assert found == expected
    assert len(found.of(str(tmp_path / "kernels.py"), "rows")) == 12
    assert together == alone


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_host_file_that_breaks_the_reading_is_told_and_the_rest_is_read(tmp_path, monkeypatch, jobs):
    _hosts(tmp_path, 4)
    monkeypatch.setattr(index, "PARALLEL_FROM", 1)
    read = index.launches_of

    def breaking(module, tree, callers):
        if module.path.endswith("host1.py"):
            raise KeyError("odd")
        if module.path.endswith("host2.py") and jobs > 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return read(module, tree, callers)

    monkeypatch.setattr(index, "launches_of", breaking)
    todo = check.Work(tuple(r.code for r in all_rules()), roots=(tmp_path,))
    outcome = check.check_paths(files.walk([str(tmp_path)]), todo, jobs)
    told = {os.path.basename(p.path): p.message for p in outcome.problems}
    assert outcome.exit_code == 2
    assert (
        told.pop("host1.py") == "internal error: KeyError: 'odd'; the launches in the file are not all known"
    )
    if jobs > 1:
        assert told.pop("host2.py").endswith("was ended by SIGKILL; the file was not read for launches")
    assert not told
    assert "CL201" in [f.code for f in outcome.findings]  # host3.py launches with x.t()
