"""What can go wrong while ``verify`` runs other people's programs: one clear line each, and the rest goes
on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")
pytest.importorskip("torch")

from coalesce_lint.verify import selftest
from coalesce_lint.verify.session import Progress, Session, Settings, Unverifiable, cleaned
from coalesce_lint.verify.verification import verify

HEAD = """
import torch
import triton
import triton.language as tl

@triton.jit
def good(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i * n + tl.program_id(0)))

x, out = torch.randn(64, 32, device="cuda"), torch.empty(64, device="cuda")
"""
GOOD = "good[(32,)](x, out, 32, BLOCK=64)\n"

PROGRAMS = {
    "it fails after a launch": (
        HEAD + GOOD + "raise ValueError('no weights')\n",
        2, "program.py:13: the program failed: ValueError: no weights", "good: load x_ptr, stride 32",
    ),
    "it launches nothing": (
        HEAD, 2, "the program launched no Triton kernel that can be seen", "",
    ),
    "it ends with a code": (
        HEAD + GOOD + "raise SystemExit(3)\n",
        2, "the program failed: it ended with exit code 3", "good: load",
    ),
    "it hangs": (
        HEAD + GOOD + "import time\ntime.sleep(900)\n",
        2, "the program failed: it ran longer than 60 s (--timeout)", "good: load x_ptr, stride 32",
    ),
    "it dies": (
        HEAD + GOOD + "import os\nos.kill(os.getpid(), 11)\n", 2, "it ended with SIGSEGV", "good: load",
    ),
    "a kernel out of bounds": (
        HEAD + GOOD + """
@triton.jit
def wild(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i * n + 9))
wild[(1,)](x, torch.empty(128, device="cuda"), 32, BLOCK=128)
""",
        0, "", "wild: load x_ptr\n  verdict   refused: out of bounds: the load at",
    ),
    "a configuration out of bounds": (
        HEAD + """
@triton.autotune([triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["n"])
@triton.jit
def tuned(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i * n + tl.program_id(0)))
tuned[(32,)](x, out, 32)
""",
        0, "", "left out  BLOCK=128, 4 warps, 3 stages: out of bounds: the load at",
    ),
    "a kernel that never ends": (
        HEAD + GOOD + """
@triton.jit
def endless(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i * n)
    while tl.load(out_ptr) == 1.0:
        x += 1
    tl.store(out_ptr + i, x)
out.fill_(1)
endless[(1,)](x, out, 32, BLOCK=64)
""",
        2, "it ran longer than 60 s",
        "refused: the kernel does not end within 60 s in the interpreter (--timeout)",
    ),
    "a kernel that does not compile": (
        HEAD + GOOD + """
@triton.jit
def huge(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i % 64, tl.load(x_ptr + i % 64 * n))
huge[(1,)](x, out, 32, BLOCK=2097152)
""",
        2, "numel (2097152) exceeds triton maximum",
        "huge: load x_ptr\n  verdict   refused: the kernel does not compile",
    ),
    "tensors on several devices": (
        HEAD + GOOD + "good[(32,)](x, torch.empty(64, device='meta'), 32, BLOCK=64)\n",
        2, "a launch of good is not kept: ValueError: its tensors lie on several devices (cpu, meta)",
        "good: load",
    ),
    "a kernel made by exec": (
        HEAD + 'exec("@triton.jit\\ndef k(p, BLOCK: tl.constexpr):\\n    tl.store(p, 0.0)\\n")\n'
        "k[(1,)](x, BLOCK=64)\n",
        2, "the source of k cannot be had", "",
    ),
    "a kernel in a notebook cell": (
        HEAD + '''
import linecache
cell = "@triton.jit\\ndef k(x_ptr, out_ptr, n, BLOCK: tl.constexpr):\\n    i = tl.arange(0, BLOCK)\\n" \\
    "    tl.store(out_ptr + i, tl.load(x_ptr + i * n + tl.program_id(0)))\\n"
name = "<ipython-input-3-abc>"
linecache.cache[name] = (len(cell), None, cell.splitlines(keepends=True), name)
exec(compile(cell, name, "exec"))
k[(32,)](x, out, 32, BLOCK=64)
''',
        0, "", "ipython-input-3-abc.py:4:27: k: load x_ptr, stride 32, extent 64\n  verdict   predicted only",
    ),
}  # fmt: skip


def command(*args: str) -> subprocess.CompletedProcess[str]:
    start = [sys.executable, "-m", "coalesce_lint", "verify", "--quiet", "--device", "cpu"]
    return subprocess.run([*start, *args], capture_output=True, text=True, timeout=400)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program(tmp_path: Path, name: str) -> None:
    text, code, said, shown = PROGRAMS[name]
    script = tmp_path / "program.py"
    script.write_text(text)
    # long enough for a busy machine to import torch and triton, short enough for what never ends
    done = command("--timeout", "60", str(script))
    assert "Traceback" not in done.stderr + done.stdout
    assert (done.returncode, said in done.stderr, shown in done.stdout) == (code, True, True), (
        done.stdout + done.stderr
    )


def test_too_little_memory(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(HEAD.replace("64, 32", "64, 320000") + GOOD)
    done = command("--memory", "0.05", str(script))
    assert done.returncode == 2
    assert "its tensors take 0.1 GB, more than --memory allows" in done.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "give a script, FILE.py::KERNEL or -m MODULE"),
        (("no_such.py",), "no_such.py: no such file"),
        (("no_such.py::k",), "no_such.py: no such file"),
        ((f"{__file__}::k", "--arg", "x=fp99[4]"), "--arg x: 'fp99' names no element type"),
        ((f"{__file__}::k", "--arg", "x=fp32[4,4]strides=(1)"), "--arg x: 1 strides for 2 sizes"),
        ((f"{__file__}::k", "--arg", "x=fp32[4]fill=3"), "--arg x: 'fill' is not known"),
        ((f"{__file__}::k", "--arg", "x"), "--arg x: expected NAME=VALUE"),
        ((f"{__file__}::k", "--grid", "0"), "--grid 0: expected one to three positive numbers"),
        (("--grid", "4", __file__), "--arg, --grid and --num-warps are for FILE.py::KERNEL"),
        (("--fail-above", "0.5", __file__), "0.5 is not in the range x>=1.0"),
    ],
)
def test_a_bad_option(args: tuple[str, ...], said: str) -> None:
    done = command(*args)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.strip().split("\n")) == 1


def test_a_parameter_that_the_kernel_does_not_have(tmp_path: Path) -> None:
    script = tmp_path / "k.py"
    script.write_text(HEAD.split("x, out =")[0])
    done = command(f"{script}::good", "--arg", "y_ptr=fp32[4]")
    assert done.returncode == 2
    assert "--arg y_ptr: good has no such parameter; it has x_ptr, out_ptr, n, BLOCK" in done.stderr


def test_an_untested_triton_must_pass_the_self_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "program.py"
    script.write_text(HEAD + GOOD)
    settings = Settings(mode="script", script=str(script), device="cpu")
    monkeypatch.setattr(selftest, "TESTED", ("0.1",))
    with cleaned(Session(settings, Progress(True))) as session:
        assert len(verify(session).results) == 1
    monkeypatch.setattr(selftest, "EXPECTED", {("rows", "load"): 1.0})
    with (
        cleaned(Session(settings, Progress(True))) as session,
        pytest.raises(Unverifiable, match="self-test failed"),
    ):
        verify(session)
