import os
import subprocess

import pytest

from coalesce_lint import files
from coalesce_lint.files import DecodeError, Problem


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Makes files below a folder and returns what a walk over it finds."""
    monkeypatch.chdir(tmp_path)

    def make(*names, **content):
        for name in names:
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content.get("text", ""))
        return tmp_path

    return make


def walked(*paths, **kw):
    return list(files.walk(paths or ["."], **kw))


def test_python_files_in_a_stable_order(tree):
    tree("b.py", "a.py", "z/c.py", "m/d.py", "m/n/e.py", "notes.txt", "f.pyc")
    assert walked() == ["a.py", "b.py", "m/d.py", "m/n/e.py", "z/c.py"]


def test_default_excludes(tree):
    tree(
        ".venv/a.py",
        "venv/a.py",
        "build/a.py",
        "dist/a.py",
        "node_modules/a.py",
        "__pycache__/a.py",
        ".git/a.py",
    )
    tree(".tox/a.py", "lib/site-packages/a.py", "kept/a.py")
    assert walked() == ["kept/a.py"]


def test_what_is_given_is_taken(tree):
    tree("build/a.py", "kernel.txt", "build/b.txt")
    assert walked("build", "kernel.txt") == ["build/a.py", "kernel.txt"]


def test_each_file_once(tree):
    tree("m/a.py")
    assert walked("m/a.py", "m", "./m/a.py") == ["m/a.py"]


def test_gitignore(tree):
    root = tree("a.py", "gen_a.py", "sub/gen_b.py", "sub/keep.py", "out/c.py")
    (root / ".gitignore").write_text("# comment\n\ngen_*.py\n/out/\n!bad[\n")
    assert walked() == ["a.py", "sub/keep.py"]


def test_a_nested_gitignore_has_the_last_word(tree):
    root = tree("gen_a.py", "sub/gen_b.py", "sub/x.py")
    (root / ".gitignore").write_text("gen_*\n")
    (root / "sub" / ".gitignore").write_text("!gen_b.py\nx.py\n")
    assert walked() == ["sub/gen_b.py"]


def test_gitignore_up_to_the_root_of_the_repository(tree):
    root = tree("repo/pkg/sub/a.py", "repo/pkg/sub/gen.py", "repo/pkg/sub/local.py")
    (root / ".gitignore").write_text("*.py\n")
    (root / "repo" / ".git" / "info").mkdir(parents=True)
    (root / "repo" / ".git" / "info" / "exclude").write_text("local.py\n")
    (root / "repo" / ".gitignore").write_text("gen.py\n")
    assert walked("repo/pkg/sub") == ["repo/pkg/sub/a.py"]


def test_git_agrees(tree):
    """The same files as ``git ls-files`` lists, over patterns of several kinds."""
    root = tree(
        "a.py", "log/a.py", "log/b/c.py", "src/x_gen.py", "src/y.py", "deep/er/tmp.py", "deep/tmp/z.py"
    )
    (root / ".gitignore").write_text("log/*\n!log/b/\n*_gen.py\ntmp/\n**/er/tmp.py\n")
    subprocess.run(["git", "init", "-q"], check=True)
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.py"], check=True, capture_output=True, text=True
    )
    assert sorted(walked()) == sorted(listed.stdout.split())


def test_exclude_is_relative_to_the_root_and_goes_over_gitignore(tree):
    root = tree("a.py", "gen/a.py", "sub/gen/b.py")
    (root / ".gitignore").write_text("!gen/\n")
    assert walked(exclude=["/gen/"], root=root) == ["a.py", "sub/gen/b.py"]


def test_exclude_holds_for_given_files_on_demand(tree):
    root = tree("gen/a.py")
    assert walked("gen/a.py", exclude=["gen/"], root=root) == ["gen/a.py"]
    assert walked("gen/a.py", exclude=["gen/"], root=root, force_exclude=True) == []


def test_a_missing_path_is_a_problem_and_the_rest_goes_on(tree):
    tree("a.py")
    assert walked("gone.py", "a.py") == [Problem("gone.py", "no such file or folder"), "a.py"]
    assert walked("nul\0byte")[0].message


def test_a_symlink_loop_ends(tree):
    root = tree("sub/a.py")
    (root / "sub" / "loop").symlink_to(root)
    (root / "sub" / "self.py").symlink_to(root / "sub" / "self.py")
    (root / "sub" / "broken.py").symlink_to(root / "gone.py")
    (root / "sub" / ".#a.py").symlink_to("someone@host.1234")  # Emacs has a.py open
    nowhere = "not read: a link that leads nowhere"
    assert walked() == [
        "sub/a.py",
        Problem("sub/broken.py", nowhere, fatal=False),
        Problem("sub/self.py", nowhere, fatal=False),
    ]
    assert isinstance(walked("sub/self.py")[0], Problem)


def test_a_pipe_in_a_folder_is_passed_over(tree):
    root = tree("a.py")
    os.mkfifo(root / "pipe.py")
    assert walked() == ["a.py"]


def test_a_pipe_or_a_device_that_is_given_is_not_waited_for(tree):
    root = tree("a.py")
    os.mkfifo(root / "pipe.py")
    for path in ("pipe.py", "/dev/zero"):
        assert files.read_bytes(path) == Problem(path, "not a regular file; '-' reads standard input")


def test_what_the_shell_has_opened_is_read():
    reading, writing = os.pipe()
    os.write(writing, b"x = 1\n")
    os.close(writing)
    assert files.read_bytes(f"/dev/fd/{reading}") == b"x = 1\n"
    os.close(reading)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_files_and_folders(tree):
    root = tree("a.py", "locked/b.py")
    (root / "locked").chmod(0)
    assert walked() == ["a.py", Problem("./locked", "permission denied")]
    (root / "locked").chmod(0o755)


def test_a_folder_that_cannot_be_listed_is_a_problem(tree, monkeypatch):
    tree("a.py", "locked/b.py")
    scandir = os.scandir

    def guarded(path):
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)
    assert walked() == ["a.py", Problem("locked", "permission denied")]


def test_reading_a_folder_or_something_endless_is_a_problem(tree, monkeypatch):
    root = tree("a.py", text="x" * 100)
    assert files.read_bytes(str(root)) == Problem(str(root), "is a directory")
    monkeypatch.setattr(files, "SIZE_LIMIT", 50)
    assert isinstance(files.read_bytes("a.py"), Problem)


@pytest.mark.parametrize(
    "text",
    [
        "import triton\n@triton.jit\n",
        "from triton import jit\n@jit\n",
        "from triton.experimental import gluon\n@gluon.jit\n",
        "from vllm.triton_utils import tl, triton\n@triton.jit\n",
        "@libentry()\n@triton.jit\n",
        "from flag_gems import utils\n@utils.jit\ndef f(x):\n    tl.load(x)\n",
        "@vllm_triton.jit\n",
    ],
)
def test_a_file_that_may_hold_a_kernel(text):
    assert files.may_hold_kernel(text.encode())


@pytest.mark.parametrize(
    "text",
    ["", "import torch\n", "import triton\ntriton.cdiv(1, 2)\n", "import jax\n@jax.jit\ndef f(): pass\n"],
)
def test_a_file_that_cannot(text):
    assert not files.may_hold_kernel(text.encode())


def test_utf16_is_seen_through():
    assert files.may_hold_kernel("import triton\n@triton.jit\n".encode("utf-16"))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"a = 1\r\nb = 2\rc = 3\n", "a = 1\nb = 2\nc = 3\n"),
        (b"\xef\xbb\xbfx = '\xc3\xb6'\n", "x = 'ö'\n"),
        (b"# -*- coding: latin-1 -*-\nx = '\xf6'\n", "# -*- coding: latin-1 -*-\nx = 'ö'\n"),
        (b"#!/usr/bin/python\n# vim: fileencoding=cp1251\nx = '\xff'\n", None),
    ],
)
def test_encodings_as_python_reads_them(data, text):
    assert files.decode(data) == (text if text is not None else data.decode("cp1251"))


@pytest.mark.parametrize(
    ("data", "line", "said"),
    [
        (b"x = 1\ny = '\xff'\n", 2, "utf-8"),
        (b"a\n" * 5 + b"y = '\xff'\n", 6, "byte 0xff"),
        (b"a = 1\n\0\0", 2, "null byte"),
        ("import triton".encode("utf-16"), 1, "UTF-16"),
        (b"# coding: nonsense\n", 1, "nonsense"),
        (b"# coding: rot13\n", 1, "rot13"),
        (b"# coding: ascii\nx = '\xc3\xb6'\n", 2, "ascii"),
    ],
)
def test_what_is_no_source_text(data, line, said):
    with pytest.raises(DecodeError) as caught:
        files.decode(data)
    assert caught.value.line == line
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_roots_are_the_folders_given_and_their_projects(tree):
    root = tree("repo/pkg/sub/a.py")
    (root / "repo" / "pyproject.toml").touch()
    assert files.roots([str(root / "repo/pkg/sub/a.py")]) == [root / "repo/pkg/sub", root / "repo"]
