"""Input that is broken, hostile or huge: a clear line, the other files reported, no traceback, no hang."""

import time

import pytest
from support import CLEAN, STRIDED, run

HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"


@pytest.fixture
def check(tmp_path):
    """Lints a file of the given content beside a file with one finding."""

    def lint(content, *args):
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / "bad.py").write_bytes(data)
        (tmp_path / "good.py").write_text(STRIDED)
        told = run("--isolated", *args, ".", cwd=tmp_path)
        lines = told.stdout.splitlines()
        assert "Traceback" not in told.stdout + told.stderr
        assert [line for line in lines if line.startswith("good.py:9:9: CL101")]
        return told, [line for line in lines if not line.startswith("good.py")]

    return lint


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (HEAD + "def f(x_ptr:\n    tl.load(x_ptr)\n", 6),
        (HEAD + "def f(x_ptr):\n    print 'Python 2'\n", 7),
        (HEAD + "def f(x_ptr):\ntl.load(x_ptr)\n", 7),
        (HEAD + "def f(x_ptr):\n    x = '''never closed\n", 7),
        (HEAD.encode() + b"def f(x_ptr):\n    x = '\xff'\n", 7),
        (HEAD.encode() + b"def f(x_ptr):\n    \0\n", 7),
        ((HEAD + "def f(x_ptr): pass\n").encode("utf-16"), 1),
        (b"# coding: nonsense\n" + HEAD.encode() + b"def f(x_ptr): pass\n", 1),
        (b"\x7fELF\0\0 triton jit \xff\xfe", 1),
        ("<<<<<<< HEAD\n" + STRIDED, 1),
    ],
    ids=[
        *(
            "parenthesis",
            "python2",
            "indent",
            "string",
            "latin1",
            "null",
            "utf16",
            "cookie",
            "binary",
            "conflict",
        ),
    ],
)
def test_a_file_that_is_no_python_is_one_finding(check, content, line):
    told, (said,) = check(content)
    assert told.returncode == 1
    assert said.startswith(f"bad.py:{line}:")
    assert " CL901 [error] not checked, the file cannot be read as Python: " in said


@pytest.mark.parametrize(
    "content",
    [
        "",
        "\n",
        "print 'Python 2'\n",
        b"\xff\xfe\0\0",
        b"\0" * 100,
        "def f(:\n",
        "# only a comment about jit\n",
    ],
)
def test_a_file_that_cannot_hold_a_kernel_is_not_reported(check, content):
    told, said = check(content)
    assert said == []
    assert "2 files (1 parsed)" in told.stderr


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: ("# -*- coding: latin-1 -*-\n" + text.replace("x_ptr", "größe")).encode("latin-1"),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.replace("\n", "\r").encode(),
    ],
    ids=["bom", "cookie", "crlf", "cr"],
)
def test_other_encodings_and_line_ends_are_read(check, encode):
    _, (said,) = check(encode(STRIDED))
    assert " CL101 load of " in said


def test_a_folder_without_python(tmp_path):
    (tmp_path / "empty").mkdir()
    told = run("empty", cwd=tmp_path)
    assert (told.returncode, told.stdout) == (0, "")
    assert "0 files" in told.stderr


def test_a_missing_path_and_a_symlink_loop(tmp_path):
    (tmp_path / "good.py").write_text(STRIDED)
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "self.py").symlink_to(tmp_path / "self.py")
    told = run(".", "gone", "self.py", cwd=tmp_path)
    assert told.returncode == 2
    assert told.stdout.count("CL101") == 1
    assert "coalesce-lint: gone: no such file or folder" in told.stderr
    assert "coalesce-lint: self.py: " in told.stderr


def test_a_generated_file_of_a_megabyte(check):
    rows = "".join(f"    ({n}, {n + 1}, 'a row of generated data', {{'key': {n}}}),\n" for n in range(20000))
    content = (
        f"{HEAD}def f(x_ptr, n, BLOCK: tl.constexpr):\n    tl.load(x_ptr + tl.arange(0, BLOCK) * n * 3)\n\n\n"
    )
    content += f"TABLE = [\n{rows}]\n"
    assert len(content) > 1_000_000
    start = time.monotonic()
    _, said = check(content)
    assert [line for line in said if line.startswith("bad.py:7:5: CL101")]
    assert time.monotonic() - start < 60


def kernel(*statements):
    body = "".join(f"    {s}\n" for s in statements)
    return f"{HEAD}def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):\n    i = tl.arange(0, BLOCK)\n{body}"


LAST = "tl.store(y_ptr + i * n + tl.program_id(0), i)"

HARD = {
    "thousand_statements": [f"v{k} = i * {k} + n // {k + 1}" for k in range(1000)],
    "thousand_loads": [f"tl.load(x_ptr + i + {k})" for k in range(1000)],
    "chain_of_sums": ["v = i", *["v = v + i * n"] * 1000, "tl.load(x_ptr + v)"],
    "squares_in_a_loop": ["x = n + i", "for k in range(100):", "    x = x * x", "tl.load(x_ptr + x)"],
    "squares_in_a_row": ["x = n + i", *["x = x * x"] * 60, "tl.load(x_ptr + x)"],
    "doubling_tree": ["x = n", *["x = (x // 3 + x % 7) * (x // 5 - x % 11)"] * 40, "tl.load(x_ptr + x + i)"],
    "huge_shift": ["tl.load(x_ptr + i + (1 << (1 << 20)))", "tl.load(x_ptr + (1 << (1 << 60)) * i)"],
    "huge_power": ["tl.load(x_ptr + i * (10 ** 10 ** 10))", "tl.load(x_ptr + i * 9 ** 9 ** 9 ** 9)"],
    "huge_literal": ["tl.load(x_ptr + i * " + "9" * 4000 + ")"],
    "huge_range": ["for k in tl.static_range(10 ** 12):", "    tl.load(x_ptr + i + k)"],
    "huge_tile": ["j = tl.arange(0, 1 << 62)", "tl.load(x_ptr + j * n)"],
    "huge_shape": [f"tl.load(x_ptr + tl.zeros({[1024] * 64}, tl.int32))"],
    "repeated_text": ["a = 'x' * (1 << 40)", "b = [0] * (1 << 40)", "tl.load(x_ptr + i)"],
    "deep_ifs": [f"{'    ' * d}if n > {d}:" for d in range(60)]
    + ["    " * 60 + "i = i * 2", "tl.load(x_ptr + i)"],
    "many_ifs": [
        "v = i",
        *(s for k in range(60) for s in (f"if n > {k}:", f"    v = v + {k} * i")),
        "tl.load(x_ptr + v)",
    ],
    "deep_loops": [f"{'    ' * d}for k{d} in range(n):" for d in range(15)]
    + ["    " * 15 + "tl.load(x_ptr + k0 + i)"],
    "while_true": ["while True:", "    i = i + 1", "    tl.load(x_ptr + i)"],
    "deep_parentheses": ["tl.load(x_ptr + " + "(" * 90 + "i" + ")" * 90 + ")"],
    "long_sum": ["tl.load(x_ptr + " + " + ".join(["i"] * 900) + ")"],
    "unary_chain": ["tl.load(x_ptr + " + "-" * 900 + "i)"],
    "self_reference": ["i = i if i else i", "p = p", "tl.load(p + i)"],
    "tl_is_a_number": ["tl = 3", "tl.load(x_ptr + i)"],
    "tl_is_a_parameter": ["def tl(x): return x", "tl.load(x_ptr)"],
    "starred": [
        "a = [*range(n)]",
        "tl.load(*a, **n)",
        "tl.load()",
        "tl.load(x_ptr + i, i, i, i, i, i, i, i, i)",
    ],
    "odd_statements": [
        "global g",
        "del i",
        "try:",
        "    yield i",
        "finally:",
        "    pass",
        "with i as j: pass",
        "import os",
    ],
    "match": [
        "match n:",
        "    case 1:",
        "        i = i * 2",
        "    case _:",
        "        pass",
        "tl.load(x_ptr + i)",
    ],
}


@pytest.mark.parametrize("statements", HARD.values(), ids=HARD)
def test_a_hard_kernel_ends_in_time_and_keeps_its_other_accesses(check, statements):
    start = time.monotonic()
    told, said = check(kernel(*statements, LAST if "tl = 3" not in statements else "pass"))
    assert time.monotonic() - start < 30
    assert told.returncode == 1, told.stderr
    assert not [line for line in said if "CL901" in line]


def test_a_kernel_that_calls_itself(check):
    told, _ = check(
        f"{HEAD}def f(x_ptr, n):\n    f(x_ptr + n, n)\n    tl.load(x_ptr + tl.arange(0, 64) * n)\n"
    )
    assert told.returncode == 1


def test_a_kernel_that_is_not_read_to_its_end_is_told(monkeypatch):
    from coalesce_lint.engine import analyze_text
    from coalesce_lint.kernels import statements

    monkeypatch.setattr(statements, "MAX_STATEMENTS", 4)
    report = analyze_text(kernel("tl.load(x_ptr + i)", "j = i", "j = i", LAST), "k.py")
    assert [a.pattern for k in report.kernels for a in k.accesses] == ["contiguous"]
    (error,) = report.errors
    assert error.line == 6
    assert error.text.startswith("kernel: too large to be read to its end")


def test_helpers_that_call_each_other_many_times(check):
    text = "import triton\nimport triton.language as tl\n\n"
    for k in range(30):
        callee = f"h{k + 1}(p + i, i); h{k + 1}(p - i, i)" if k < 29 else "tl.load(p + i * 3)"
        text += f"@triton.jit\ndef h{k}(p, i):\n    {callee}\n\n"
    text += "@triton.jit\ndef top(x_ptr):\n    h0(x_ptr, tl.arange(0, 128))\n"
    start = time.monotonic()
    check(text)
    assert time.monotonic() - start < 60


SIGNS = ["(", "-", "not ", "i + ", "f(", "[", "i if i else ", "lambda: ", "i."]


@pytest.mark.parametrize(
    ("sign", "depth"), [(s, d) for s in SIGNS for d in (150, 200_000)] + [("(", 5000), ("lambda: ", 5000)]
)
def test_nesting_that_no_parser_survives(check, sign, depth):
    close = {"(": ")", "f(": ")", "[": "]"}.get(sign, "")
    text = sign * depth + "i" + close * depth
    told, _ = check(f"{HEAD}def f(x_ptr, i):\n    x = {text}\n    tl.load(x_ptr)\n")
    assert told.returncode in (1, 2)


def test_shadowed_names_of_triton_are_no_kernels(tmp_path):
    text = (
        "class triton:\n    jit = staticmethod(lambda f: f)\n\n@triton.jit\ndef f(x, tl):\n    tl.load(x)\n"
    )
    (tmp_path / "k.py").write_text(text)
    assert run("k.py", cwd=tmp_path).returncode == 0


def test_explain_of_all_hard_kernels(tmp_path):
    for name, statements in HARD.items():
        (tmp_path / f"{name}.py").write_text(kernel(*statements))
    (tmp_path / "clean.py").write_text(CLEAN)
    for form in ("text", "json"):
        told = run("explain", "--format", form, ".", cwd=tmp_path)
        assert told.returncode == 0, told.stderr
        assert "row_sum" in told.stdout
