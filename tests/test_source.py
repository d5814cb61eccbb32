"""Which functions of a file are kernels, and where their accesses stand."""

import pytest
from support import run

from coalesce_lint.engine import analyze_text

KERNEL = "def k(x):\n    tl.load(x + tl.arange(0, 64) * 3)\n"
HEAD = "import functools\nimport triton\nimport triton.language as tl\n"


def kernels(text):
    report = analyze_text(text, "k.py")
    assert not report.errors
    return [k.name for k in report.kernels]


@pytest.mark.parametrize(
    "lines",
    [
        "@triton.jit\n",
        "@triton.jit()\n",
        "from triton import jit\n@jit\n",
        "from triton import jit as J\n@J\n",
        "from triton import jit as J\n@J(do_not_specialize=['x'])\n",
        "import triton as T\n@T.jit\n",
        "J = triton.jit\n@J\n",
        "T = triton\nJ = T.jit\n@J\n",
        "J = functools.partial(triton.jit, do_not_specialize=['x'])\n@J\n",
        "from triton.experimental.gluon import jit as G\n@G\n",
        "@project.jit\n",
        "@triton_jit\n",
    ],
)
def test_names_of_the_decorator(lines):
    assert kernels(HEAD + lines + KERNEL) == ["k"]


@pytest.mark.parametrize(
    "lines",
    [
        "",
        "from numba import jit\n@jit\n",
        "from numba import jit as J\n@J\n",
        "import jax\nJ = jax.jit\n@J\n",
        "from numba import cuda\n@cuda.jit\n",
        "A = A\n@A\n",
        "A = B\nB = A\n@B\n",
        "J = triton.autotune\n@J\n",
    ],
)
def test_names_of_other_decorators(lines):
    assert kernels(HEAD + lines + KERNEL) == []


@pytest.mark.parametrize(
    "call", ["triton.jit(k)", "J(k)", "jit(k)", "triton.autotune([], [])(triton.jit(k))"]
)
def test_a_function_may_become_a_kernel_by_a_call(call):
    imports = "from triton import jit\nfrom triton import jit as J\n"
    assert kernels(HEAD + imports + KERNEL + f"kernel = {call}\n") == ["k"]


def test_columns_count_characters():
    line = '    é = tl.arange(0, 64); v = "日本語"; q = tl.load(x + é * 3)  # ü\n'
    report = analyze_text(f"{HEAD}@triton.jit\ndef k(x):\n{line}", "k.py")
    ((access,),) = [k.accesses for k in report.kernels]
    begin, end = access.place.column, access.place.end_column
    assert line[begin:end] == access.source == "tl.load(x + é * 3)"


def test_columns_over_several_lines():
    lines = ['    "ä"; q = tl.load(x +\n', "        (é := tl.arange(0, 64)) * 3)  # ü\n"]
    report = analyze_text(f"{HEAD}@triton.jit\ndef k(x):\n{''.join(lines)}", "k.py")
    ((access,),) = [k.accesses for k in report.kernels]
    assert lines[0][access.place.column :] == "tl.load(x +\n"
    assert lines[1][: access.place.end_column].endswith("* 3)")


def pattern(text):
    ((access,),) = [k.accesses for k in analyze_text(text, "k.py").kernels]
    return access.pattern, access.pointer, access.lane_stride


def test_star_imports_of_the_language():
    body = "@triton.jit\ndef k(x):\n    i = arange(0, 64).to(int64)\n    for j in range(2): load(x + i * 3)\n"
    assert pattern(f"import triton\nfrom triton.language import *\n{body}") == ("strided", "x", "3")
    assert analyze_text(f"import triton\nfrom project import *\n{body}", "k.py").kernels[0].accesses == []


def test_names_are_the_same_in_every_form_of_their_letters():
    body = "@triton.jit\ndef k(ｘ, ﬁ):\n    i = tl.arange(0, 64) * 3\n    ĳ = i\n    tl.load(x + ij)\n"
    assert pattern(HEAD + body) == ("strided", "x", "3")


def test_warnings_about_the_source_are_not_ours(tmp_path):
    text = f'{HEAD}x = 1if 1else 2\ns = "\\d"\n@triton.jit\n{KERNEL}    assert (x, "m")\n    x is 1\n'
    (tmp_path / "k.py").write_text(text)
    for env in ({}, {"PYTHONWARNINGS": "error"}):
        told = run("--isolated", "--quiet", "--strings", "k.py", cwd=tmp_path, env=env)
        assert told.stdout.startswith("k.py:8:5: CL101")
        assert told.stderr == ""


def test_odd_spacing_is_read():
    body = (
        "class A:\n    @triton.jit\n    def k(x):\n\f        tl.load(x+0if not.5else x+tl.arange(0,64)*3)\n"
    )
    assert pattern(HEAD + body) == ("strided", "x", "3")
