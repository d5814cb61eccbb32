import pytest
from support import STRIDED, run

from coalesce_lint.access import Place
from coalesce_lint.findings import Finding
from coalesce_lint.suppress import Suppressions


def suppressed(*lines, first=1, last=1, code="CL101"):
    found = Finding(code, "name", Place("k.py", first, 4, last, 9), "message")
    return Suppressions("k.py", lines).covers(found)


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",
        "# NOQA",
        "# noqa: CL101",
        "# noqa:CL101",
        "# NoQA: cl101",
        "# noqa: E501,CL101",
        "# noqa: E501, CL101",
        "# noqa: E501 CL101",
        "# noqa: CL1",
        "# noqa: CL101 read once only",
        "# type: ignore # noqa: CL101",
    ],
)
def test_comments_that_cover_a_finding(comment):
    assert suppressed(f"x = tl.load(p)  {comment}")


@pytest.mark.parametrize(
    "comment", ["", "# noqa: CL102", "# noqa: E501", "# no qa", "#noqa", "# noqa: CL1011"]
)
def test_comments_that_do_not(comment):
    assert not suppressed(f"x = tl.load(p)  {comment}")


def test_any_line_of_the_call_counts():
    lines = ["x = tl.load(", "    p,  # noqa: CL101", ")", "y = 1  # noqa"]
    assert suppressed(*lines, first=1, last=3)
    assert not suppressed(*lines, first=3, last=3)


def test_a_place_outside_the_text_is_not_suppressed():
    assert not suppressed("# noqa", first=7, last=9)
    assert not suppressed(first=1, last=1)


HEAD = "import triton\nimport triton.language as tl\n\n"
KERNEL = """\
@triton.jit
def {name}(x_ptr, n, B: tl.constexpr):{comment}
    rows = tl.arange(0, B)
    offs = rows * n * 2 + tl.program_id(0)
    ptrs = (x_ptr
            + offs)
    x = tl.load(ptrs)
    tl.store(x_ptr + rows, x)
"""


def kernel(name="k", comment=""):
    return KERNEL.format(name=name, comment=comment)


@pytest.fixture
def lint(tmp_path):
    def check(text, *args):
        (tmp_path / "k.py").write_text(text)
        told = run("--isolated", *args, "k.py", cwd=tmp_path)
        assert "internal error" not in told.stderr
        return [" ".join(line.split()[:2]) for line in told.stdout.splitlines()], told.stderr

    return check


@pytest.mark.parametrize(
    ("line", "silenced"),
    [
        ("    x = tl.load(ptrs)", True),
        ("            + offs)", True),
        ("    offs = rows * n * 2 + tl.program_id(0)", True),
        ("    rows = tl.arange(0, B)", False),
        ("    tl.store(x_ptr + rows, x)", False),
        ("@triton.jit", False),
    ],
)
def test_a_comment_on_the_line_of_the_offset_counts(lint, line, silenced):
    text = HEAD + kernel()
    assert line + "\n" in text
    found, told = lint(text.replace(line + "\n", f"{line}  # noqa: CL101\n"))
    assert (not found) == silenced
    assert ("(1 suppressed)" in told) == silenced


@pytest.mark.parametrize(
    "comment",
    ["# coalesce-lint: off", "# coalesce-lint: off - 32 rows", "#coalesce-lint:off", "# Coalesce-Lint: OFF"],
)
def test_a_kernel_is_turned_off_on_its_def(lint, comment):
    found, told = lint(HEAD + kernel("a", f"  {comment}") + kernel("b"))
    assert found == ["k.py:18:9: CL101"]
    assert "(1 suppressed)" in told


def test_a_kernel_is_turned_off_on_its_decorator_and_long_heads(lint):
    text = kernel("a").replace("@triton.jit", "@triton.jit  # coalesce-lint: off")
    assert lint(HEAD + text)[0] == []
    text = kernel("a").replace("(x_ptr, n,", "(x_ptr,\n      n,  # coalesce-lint: off\n      ")
    assert lint(HEAD + text)[0] == []


def test_a_file_is_turned_off_by_a_line_of_its_own(lint):
    assert lint(HEAD + kernel("a") + "# coalesce-lint: off, generated\n" + kernel("b"))[0] == []
    assert lint("# coalesce-lint: off\n" + HEAD + kernel("a"))[0] == []


@pytest.mark.parametrize("comment", ["# coalesce-lint: offset", "# coalesce-lint: on", "# coalesce-lint off"])
def test_other_comments_turn_nothing_off(lint, comment):
    assert len(lint(HEAD + comment + "\n" + kernel())[0]) == 1


def test_in_a_body_the_comment_turns_nothing_off(lint):
    text = kernel().replace("    x = tl.load(ptrs)\n", "    x = tl.load(ptrs)  # coalesce-lint: off\n")
    found, _ = lint(HEAD + text, "--extend-select", "CL902")
    assert found == ["k.py:10:9: CL101", "k.py:10:24: CL902"]


def test_a_helper_stays_on_for_the_other_kernels(lint):
    helper = "@triton.jit\ndef h(p, n):\n    return tl.load(p + tl.arange(0, 64) * n * 2)\n"
    tops = [f"@triton.jit\ndef {k}(x, n):{{}}\n    h(x, n)\n" for k in "ab"]
    off = "  # coalesce-lint: off"
    assert len(lint(HEAD + helper + tops[0].format(off) + tops[1].format(""))[0]) == 1
    assert lint(HEAD + helper + tops[0].format(off) + tops[1].format(off))[0] == []
    assert lint(HEAD + helper.replace("n):", f"n):{off}") + tops[0].format("") + tops[1].format(""))[0] == []


@pytest.mark.parametrize(
    ("comment", "reported"),
    [
        ("# noqa: CL102", True),
        ("# noqa: CL999", True),
        ("# noqa: CL101", False),
        ("# noqa: CL1", False),
        ("# noqa", False),
        ("# noqa: E501", False),
        ("# noqa: CL101,CL102,E501", True),
        ("# noqa: CL102,CL902", False),
        ("# noqa: CL107", False),  # a rule that does not run may be the reason
    ],
)
def test_comments_that_silence_nothing(lint, comment, reported):
    text = kernel().replace("    x = tl.load(ptrs)\n", f"    x = tl.load(ptrs)  {comment}\n")
    found, _ = lint(HEAD + text, "--extend-select", "CL902")
    assert ("k.py:10:24: CL902" in found) == reported
    assert "k.py:10:24: CL902" not in lint(HEAD + text)[0]


def test_a_comment_in_a_helper_is_of_use_to_other_files(tmp_path):
    (tmp_path / "h.py").write_text(
        HEAD + "@triton.jit\ndef h(p, i):\n    return tl.load(p + i)  # noqa: CL101\n"
    )
    top = "from h import h\n@triton.jit\ndef k(x, n, B: tl.constexpr):\n    h(x, tl.arange(0, B) * n * 2)\n"
    (tmp_path / "a.py").write_text(HEAD + top)
    assert run("--isolated", "--extend-select", "CL902", "a.py", "h.py", cwd=tmp_path).stdout == ""
    assert " CL902 " in run("--isolated", "--extend-select", "CL902", "h.py", cwd=tmp_path).stdout


def test_unused_off_comments(lint):
    clean = kernel("a", "  # coalesce-lint: off").replace("rows * n * 2", "rows")
    assert lint(HEAD + clean, "--extend-select", "CL902")[0] == ["k.py:5:36: CL902"]
    both = lint("# coalesce-lint: off\n" + HEAD + clean, "--extend-select", "CL902")[0]
    assert both == ["k.py:1:1: CL902", "k.py:6:36: CL902"]


# -- --add-noqa


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_comments_are_added_and_silence(tmp_path, end):
    path = tmp_path / "k.py"
    text = HEAD + kernel("a") + kernel("b").replace("x = tl.load(ptrs)", "x = tl.load(ptrs)  # noqa: E501")
    path.write_bytes(text.replace("\n", end).encode())
    path.chmod(0o755)
    told = run("--isolated", "--add-noqa", "k.py", cwd=tmp_path)
    assert (told.returncode, told.stdout) == (0, "")
    assert told.stderr == "coalesce-lint: 2 comments added, 1 file changed\n"
    new = text.replace("tl.load(ptrs)  # noqa: E501", "tl.load(ptrs)  # noqa: E501,CL101")
    new = new.replace("tl.load(ptrs)\n", "tl.load(ptrs)  # noqa: CL101\n")
    assert path.read_bytes() == new.replace("\n", end).encode()
    assert path.stat().st_mode & 0o777 == 0o755
    assert run("--isolated", "--extend-select", "CL902", "k.py", cwd=tmp_path).stdout == ""
    assert "0 comments added" in run("--isolated", "--add-noqa", "k.py", cwd=tmp_path).stderr


def test_comments_only_where_comments_can_be(tmp_path):
    calls = [
        "tl.load(x + i * n \\\n        * 2)",
        "tl.load(x + i * n * 2 + len('''\n  '''))",
        "s = '''\n   '''; tl.load(x + i * n * 2); t = '''\n'''",
    ]
    body = "".join(f"    {c}\n" for c in calls)
    text = f"{HEAD}@triton.jit\ndef k(x, n):\n    i = tl.arange(0, 64)\n{body}"
    (tmp_path / "k.py").write_text(text)
    told = run("--isolated", "--add-noqa", "k.py", cwd=tmp_path)
    assert told.returncode == 2
    assert "1 finding on lines that can have no comment" in told.stderr
    new = (tmp_path / "k.py").read_text()
    assert "        * 2)  # noqa: CL101\n" in new
    assert new.count("# noqa") == told.stderr.count("comments added") * 2


def test_comments_are_added_through_links_and_not_to_what_cannot_be_written(tmp_path):
    (tmp_path / "real.py").write_text(STRIDED)
    (tmp_path / "k.py").symlink_to("real.py")
    assert run("--isolated", "--add-noqa", "k.py", cwd=tmp_path).returncode == 0
    assert (tmp_path / "k.py").is_symlink()
    assert "# noqa: CL101" in (tmp_path / "real.py").read_text()
    told = run("--isolated", "--add-noqa", "-", cwd=tmp_path, input=STRIDED)
    assert told.returncode == 2
    assert told.stderr.splitlines()[0] == "coalesce-lint: <stdin>: no such file or folder"
