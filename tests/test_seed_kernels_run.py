"""The kernels of fixtures/seeds/ are real: every ``launch(device)`` runs and its results are right.

On the CPU they run under Triton's interpreter. Run as a program, this file launches the files it is given and
prints one JSON line for each: ``python tests/test_seed_kernels_run.py cpu FILE...``.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

SEEDS = Path(__file__).parent.parent / "fixtures" / "seeds"
FILES = sorted(SEEDS.glob("*.py"))
TIMEOUT_S = 600

needs_triton = pytest.mark.skipif(
    not (importlib.util.find_spec("torch") and importlib.util.find_spec("triton")),
    reason="torch and triton are not installed (extra: verify)",
)


def run_all(device: str) -> dict[str, str]:
    """What became of each file, by its name: "ok", "skipped: why" or a traceback. One process for all."""
    env = {**os.environ, "TRITON_INTERPRET": "1" if device == "cpu" else "0"}
    command = [sys.executable, __file__, device, *map(str, FILES)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=TIMEOUT_S)
    results = dict(json.loads(line) for line in done.stdout.splitlines() if line.startswith('["'))
    return {f.name: results.get(f.name, f"no result\n{done.stderr[-2000:]}") for f in FILES}


@pytest.fixture(scope="module")
def on_cpu() -> dict[str, str]:
    return run_all("cpu")


@pytest.fixture(scope="module")
def on_gpu() -> dict[str, str]:
    if not Path("/dev/nvidiactl").exists():
        pytest.skip("no NVIDIA GPU here")
    return run_all("cuda")


def check(result: str) -> None:
    if result.startswith("skipped"):
        pytest.skip(result)
    assert result == "ok", result


@needs_triton
@pytest.mark.slow
@pytest.mark.parametrize("name", [f.name for f in FILES])
def test_seed_kernels_are_right_in_the_interpreter(name: str, on_cpu: dict[str, str]) -> None:
    check(on_cpu[name])


@needs_triton
@pytest.mark.gpu
@pytest.mark.parametrize("name", [f.name for f in FILES])
def test_seed_kernels_are_right_on_the_gpu(name: str, on_gpu: dict[str, str]) -> None:
    check(on_gpu[name])


# The program


def let_scalars_be_range_bounds() -> None:
    """Triton 3.6 turns a scalar into a Python int through numpy in a way that numpy 2.4 refuses."""
    from triton.runtime import interpreter

    patch = interpreter._patch_lang_tensor

    def patch_and_fix(tensor, scope=None):
        patch(*(a for a in (tensor, scope) if a is not None))
        tensor.__index__ = lambda self: int(self.handle.data.item())

    interpreter._patch_lang_tensor = patch_and_fix


def launch_file(path: Path, device: str) -> str:
    import torch
    import triton.language

    if "make_block_ptr" in path.read_text() and not hasattr(triton.language, "make_block_ptr"):
        return "skipped: this Triton has no block pointers"
    torch.manual_seed(0)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        module.launch(device)
    except Exception:
        return traceback.format_exc()
    return "ok"


def main() -> None:
    device, *paths = sys.argv[1:]
    if device == "cpu":
        let_scalars_be_range_bounds()
    for path in map(Path, paths):
        print(json.dumps([path.name, launch_file(path, device)]), flush=True)


if __name__ == "__main__":
    main()
