"""``explain --compiled``: the compiler beside the model, and one clear line where it cannot be had."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support import ROOT, run

pytest.importorskip("triton")
pytest.importorskip("torch")

from coalesce_lint.pins import PROFILES, installed_profile, make_pins
from coalesce_lint.verify import explain

KERNELS = ROOT / "tests" / "data" / "explained_kernels.py"
ROWS = "x_ptr=*fp16 y_ptr=*fp32 stride=1000 n_cols=1000 BM=16 BN=1024"


def asked(kernel: str, arguments: str, *more: str, path: Any = KERNELS) -> tuple[Any, list[str]]:
    """The accesses of a kernel and the lines on standard error."""
    pins = [part for a in arguments.split() for part in ("--arg", a)]
    told = run("explain", "--compiled", "--format", "json", *pins, *more, f"{path}::{kernel}")
    document = json.loads(told.stdout)
    accesses = [a for k in document["kernels"] for a in k["accesses"]]
    assert told.returncode == (2 if document["errors"] else 0)
    return accesses, told.stderr.splitlines()


def test_model_and_compiler_stand_side_by_side() -> None:
    (load, store), lines = asked("rows", ROWS, "--grid", "8")
    assert lines == []
    assert load["compiled"]["status"] == store["compiled"]["status"] == "agrees"
    # 1000 columns of 2 bytes: the mask is constant over 8 elements, the pitch aligned to no more
    layout = ("order", "elements_per_thread", "vector_bytes", "lane_axis")
    assert {k: load["compiled"][k] for k in layout} == {
        "order": [1, 0], "elements_per_thread": load["compiled"]["model"]["elements_per_thread"],
        "vector_bytes": load["cost"]["vector_bytes"], "lane_axis": 1,
    }  # fmt: skip
    assert load["compiled"]["sectors_per_request"] == pytest.approx(
        load["cost"]["sectors_per_request"], rel=0.03
    )
    assert load["compiled"]["triton"].startswith(installed_profile())


def test_a_grid_is_not_needed() -> None:
    (load, _), lines = asked("rows", ROWS)
    assert (lines, load["compiled"]["status"]) == ([], "agrees")


def test_the_text_shows_both_figures() -> None:
    pins = [part for a in ROWS.split() for part in ("--arg", a)]
    told = run("explain", "--compiled", *pins, "--grid", "8", f"{KERNELS}::rows").stdout
    assert told.count("the compiler agrees with the model") == 2
    assert "vector bytes" in told


def test_an_autotuned_kernel_takes_its_first_configuration() -> None:
    (load, store), lines = asked("tuned", "x_ptr=*fp32 y_ptr=*fp32 n=65536", "--grid", "32")
    assert lines == []
    assert load["compiled"]["status"] == store["compiled"]["status"] == "agrees"
    assert load["compiled"]["requests_per_warp"] == 2.0  # 2048 elements by 8 warps, four at a time


def test_addresses_that_are_loaded_are_not_compared() -> None:
    accesses, _ = asked("gathered", "x_ptr=*fp16 index_ptr=*i32 y_ptr=*fp16 BLOCK=512", "--grid", "1")
    assert [a["compiled"]["data_dependent"] for a in accesses] == [False, False, True]
    assert [a["compiled"]["status"] for a in accesses] == ["agrees"] * 3


def test_missing_arguments_are_named() -> None:
    accesses, lines = asked("rows", "x_ptr=*fp16 y_ptr=*fp16 BM=16 BN=64")
    assert "compiled" not in accesses[0]
    assert lines == [
        f"coalesce-lint: {KERNELS}:7: rows is not compiled: "
        "the launch lacks --arg stride=... --arg n_cols=..."
    ]


def test_the_compilers_first_line_and_place_are_given() -> None:
    _, lines = asked("broken", "x_ptr=*fp32 BLOCK=128")
    assert len(lines) == 1
    assert lines[0].startswith(f"coalesce-lint: {KERNELS}:35: broken is not compiled: NameError")
    assert "no_such_name" in lines[0]
    _, lines = asked("odd_block", "x_ptr=*fp32 BLOCK=100")
    # the pin itself is told as well: it cannot be meant
    lines = [line for line in lines if "--arg BLOCK" not in line]
    assert len(lines) == 1
    assert lines[0].startswith(f"coalesce-lint: {KERNELS}:46: odd_block is not compiled: ")
    assert "power of 2" in lines[0]


def test_a_file_that_cannot_be_imported(tmp_path: Any) -> None:
    file = tmp_path / "k.py"
    file.write_text(f"import no_such_package_at_all\n{KERNELS.read_text()}")
    _, lines = asked("rows", ROWS, path=file)
    assert len(lines) == 1
    assert "No module named 'no_such_package_at_all'" in lines[0]


def test_a_kernel_in_a_package_may_import_its_neighbours(tmp_path: Any) -> None:
    package = tmp_path / "some_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "sizes.py").write_text("NUMBER = 1\n")
    (package / "k.py").write_text(f"from .sizes import NUMBER\n{KERNELS.read_text()}")
    (load, _), lines = asked("rows", ROWS, path=package / "k.py")
    assert (lines, load["compiled"]["status"]) == ([], "agrees")


def test_standard_input_has_no_file() -> None:
    told = run("explain", "--compiled", "-", input=KERNELS.read_text())
    assert told.returncode == 2
    assert "--compiled imports a kernel's file, and here is none" in told.stderr


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explain, "NEEDED", ("no_such_package_at_all",))
    assert explain.obstacle(make_pins()) == (
        "needs no_such_package_at_all: pip install 'coalesce-lint[verify]'"
    )


def test_only_the_installed_triton_compiles() -> None:
    other = next(p for p in PROFILES if p != installed_profile())
    told = run("explain", "--compiled", "--triton", other, f"{KERNELS}::rows")
    assert told.returncode == 2
    assert f"leave out --triton {other}" in told.stderr


def test_help_says_that_the_file_is_imported() -> None:
    assert "THIS IMPORTS THE KERNEL'S FILE" in " ".join(run("explain", "--help").stdout.split())


def test_text_that_is_not_ascii_before_an_access(tmp_path: Any) -> None:
    file = tmp_path / "k.py"
    text = KERNELS.read_text()
    assert "    x = tl.load(" in text
    file.write_text(
        text.replace("    x = tl.load(", '    größe: tl.constexpr = "äöü"; x = tl.load(', 1), "utf-8"
    )
    (load, store), lines = asked("rows", ROWS, path=file)
    assert lines == []
    assert load["compiled"]["status"] == store["compiled"]["status"] == "agrees"
