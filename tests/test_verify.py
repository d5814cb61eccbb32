"""``verify`` on the CPU: launches captured, addresses followed, variants rewritten and proved, traffic
predicted."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("triton")
pytest.importorskip("torch")

from support import ROOT, run

from coalesce_lint.verify import tuning
from coalesce_lint.verify.session import Progress, Session, Settings, cleaned
from coalesce_lint.verify.verification import Outcome, verify

WALKS = ROOT / "tests" / "verify_kernels" / "walks.py"


def verified(script: Path, *args: str, **options: Any) -> Outcome:
    settings = Settings(mode="script", script=str(script), args=list(args), device="cpu", **options)
    with cleaned(Session(settings, Progress(quiet=True))) as session:
        return verify(session)


@pytest.fixture(scope="module")
def walks() -> Outcome:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "SECONDS", 900)  # on a machine that others use, too
        return verified(WALKS, launches=4)


def of(outcome: Outcome, kernel: str) -> list[dict[str, Any]]:
    return [r for r in outcome.results if r["kernel"] == kernel]


#: Kernel, operation, pointer, stride and extent of each access that is to be proved; "together" has neither.
PROVED = [
    ("column_sum", "load", "x_ptr", 40, 96),
    ("channel_scale", "load", "x_ptr", 15, 32),
    ("channel_scale", "store", "x_ptr", 15, 32),
    ("channel_mix", "load", "x_ptr", 16, 32),
    ("channel_mix", "load", "y_ptr", 16, 32),
    ("channel_mix", "store", "x_ptr", 16, 32),
    ("channel_mix", "store", "z_ptr", 16, 32),
    ("channel_mix", "together", "x_ptr, y_ptr, z_ptr", None, None),
    ("softmax_rows", "load", "in_ptr", 24, 56),
    ("softmax_rows", "store", "out_ptr", 24, 56),
    ("softmax_rows", "together", "in_ptr, out_ptr", None, None),
    ("paged_keys", "load", "k_ptr", 16, 64),
    ("transposed_store", "store", "out_ptr", 32, 48),
    ("pointer_walk", "load", "x_ptr", 24, 128),
    ("plus_transposed", "load", "x_ptr", 64, 64),
    ("flat_index", "load", "x_ptr", 24, 64),
    ("two_strides", "load", "x_ptr", 32, 128),
    ("through_helper", "load", "x_ptr", 40, 48),
    ("through_helper", "load", "y_ptr", 40, 48),
    ("through_helper", "together", "x_ptr, y_ptr", None, None),
    ("offsets_of_helper", "load", "k_ptr", 16, 64),
    ("block_pointer", "load", "x_ptr", 24, 128),
    ("tuned", "load", "x_ptr", 40, 128),
    ("tuned_blocks", "load", "x_ptr", 40, 96),
    ("half_covered", "load", "x_ptr", 24, 64),
    ("tuned_scale", "store", "out_ptr", 24, 128),
    ("tuned_scale", "together", "x_ptr, out_ptr", None, None),
    ("host_descriptor", "load", "x_ptr", 24, 128),
    ("histogram", "load", "x_ptr", 24, 64),
    ("atomic_columns", "atomic_add", "out_ptr", 24, 64),
    ("halo", "load", "x_ptr", 40, 65),
]


def test_the_program_ran_to_its_end(walks: Outcome) -> None:
    assert walks.failure is None
    assert walks.notes == []


@pytest.mark.parametrize(("kernel", "op", "pointer", "stride", "extent"), PROVED)
def test_an_access_is_rewritten_and_proved(
    walks: Outcome, kernel: str, op: str, pointer: str, stride: int | None, extent: int | None
) -> None:
    found = [r for r in of(walks, kernel) if (r["op"], r["pointer"]) == (op, pointer)]
    assert len(found) == 1
    result = found[0]
    assert (result["verdict"], result["reason"]) == ("predicted only", "no GPU")
    assert (result["stride"], result["extent"]) == (stride, extent)
    assert result["addresses_proved"] and result["outputs_equal"]
    before, after = result["predicted"]["before"], result["predicted"]["after"]
    assert after["requests"] <= before["requests"]
    # One sector for each lane becomes one for eight lanes of four bytes; masks and gaps cost a little of
    # that.
    assert before["sectors"] / after["sectors"] >= 6


def test_nothing_else_is_flagged(walks: Outcome) -> None:
    proved = {k for k, *_ in PROVED}
    others = {r["kernel"] for r in walks.results} - proved
    assert others == {"scaled_column", "reversed_rows", "chosen_pointer", "anti_diagonal"}


@pytest.mark.parametrize(("factor", "least"), [(16, 8), (32, 4)])
def test_small_types(walks: Outcome, factor: int, least: int) -> None:
    """fp16, bf16, fp8 and int8: sectors hold 16 or 32 of them."""
    found = [r for r in of(walks, "scaled_column") if not r["together"]]
    assert len(found) == 8
    assert all(r["addresses_proved"] and r["outputs_equal"] for r in found)
    gains = sorted(r["predicted"]["before"]["sectors"] / r["predicted"]["after"]["sectors"] for r in found)
    assert sum(g > 0.7 * factor for g in gains) >= least


def test_a_split_copy_where_one_tensor_is_read_in_two_ways(walks: Outcome) -> None:
    (result,) = of(walks, "plus_transposed")
    assert result["split_copy"]
    whole = result["predicted"]["kernel"]
    assert whole["after"]["sectors"] < whole["before"]["sectors"]


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        ("reversed_rows", "negative stride -16"),
        ("chosen_pointer", "p is chosen by a branch"),
        # One program's first lane begins where the digits of all the others end.
        ("anti_diagonal", "failed proof: the variant would leave the tensor"),
    ],
)
def test_a_refusal(walks: Outcome, kernel: str, reason: str) -> None:
    found = of(walks, kernel)
    assert found and all(r["verdict"] == f"refused: {reason}" for r in found)
    assert all(r["measured"] is None and not r["addresses_proved"] for r in found)


def test_a_tuned_kernel_under_each_configuration(walks: Outcome) -> None:
    """Grid, heuristics and coefficients are those of the configuration; the variant is built anew for it."""
    (result,) = of(walks, "tuned_blocks")
    rows = result["best"]["configurations"]
    assert [(r["name"], r["chosen"], r["proved"], r["grid"]) for r in rows] == [
        ("BLOCK=32, 1 warp, 3 stages", True, True, [3, 40]),
        ("BLOCK=64, 2 warps, 2 stages", False, True, [2, 40]),
        ("BLOCK=256, 1 warp, 3 stages", False, False, [1, 40]),
        ("BLOCK=32, 4 warps, 3 stages", False, False, None),
    ]
    assert [r["reason"] for r in rows[:2]] == [None, None]
    assert rows[2]["reason"].startswith("it does not compile: ")
    assert rows[3]["reason"] == "a hook of its own runs before its launch"
    # 96 rows of 40 columns, a sector for each element before; 12 sectors a column after. Stores: 12 a column.
    # A share of the programs stands for all.
    for row in rows[:2]:
        assert row["predicted_sectors"]["before"] == pytest.approx(96 * 40 + 480, rel=0.06)
        assert row["predicted_sectors"]["after"] == pytest.approx(480 + 480, rel=0.06)
    assert result["best"]["measured"] is None and result["best"]["reason"] == "no GPU"


def test_nothing_to_choose_from(walks: Outcome) -> None:
    assert [r["best"] for r in of(walks, "column_sum")] == [None]


@pytest.fixture(scope="module")
def everything() -> Outcome:
    return verified(WALKS, "plain_copy", "transposed_tile", "gathered", "host_descriptor", everything=True)


@pytest.mark.parametrize("kernel", ["plain_copy", "transposed_tile"])
def test_contiguous_accesses_gain_nothing(everything: Outcome, kernel: str) -> None:
    found = of(everything, kernel)
    assert len(found) == 2
    for result in found:
        assert result["stride"] == 1
        assert result["addresses_proved"] and result["outputs_equal"]
        assert result["predicted"]["before"] == result["predicted"]["after"]


def test_a_gather_is_refused(everything: Outcome) -> None:
    verdicts = {(r["op"], r["pointer"]): r["verdict"] for r in of(everything, "gathered")}
    assert verdicts["load", "x_ptr"] == "refused: neighbouring lanes are not equally far apart: a gather"
    assert verdicts["store", "out_ptr"] == "predicted only"


def test_a_host_descriptor_is_not_applicable(everything: Outcome) -> None:
    """TMA has no lane sectors; the kernel's other accesses are verified."""
    verdicts = {(r["op"], r["pointer"]): r["verdict"] for r in of(everything, "host_descriptor")}
    (described,) = (v for (_, pointer), v in verdicts.items() if pointer not in ("x_ptr", "out_ptr"))
    assert described == "refused: not applicable: TMA has no lane sectors"
    assert verdicts["load", "x_ptr"] == verdicts["store", "out_ptr"] == "predicted only"


# the command line


def command(*args: str, cwd: Path | None = None, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "coalesce_lint", "verify", "--quiet", "--device", "cpu", *args],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=timeout,
    )


def test_files_are_written(tmp_path: Path) -> None:
    table, variant = tmp_path / "out.json", tmp_path / "variant.py"
    done = command("--json", str(table), "--emit-variant", str(variant), str(WALKS), "softmax_rows")
    assert done.returncode == 0, done.stderr
    document = json.loads(table.read_text())
    keys = "schema tool device driver copy_gbps versions command date notes results"
    assert sorted(document) == sorted(keys.split())
    assert document["device"] is None and document["schema"] == 1
    contract = (
        "path line column kernel op pointer verdict reason stride extent predicted counters measured "
        "addresses_proved outputs_equal permute_us pays_after_launches"
    )
    for result in document["results"]:
        assert set(contract.split()) <= set(result)
    text = variant.read_text()
    ast.parse(text)
    original = WALKS.read_text()
    assert "# in_ptr is stored permuted: the dimension of stride 24 (extent 56) moved innermost." in text
    changed = [line for line in text.split("\n") if line not in original.split("\n")]
    assert [line for line in changed if not line.startswith("#")] == [
        "def softmax_rows(out_ptr, in_ptr, in_row, in_col, out_row, out_col, n_rows, "
        "BLOCK: tl.constexpr, _k1):",
        '    x = tl.load(in_ptr + (rows + column * _k1), mask=rows < n_rows, other=-float("inf"))',
        "    tl.store(out_ptr + (rows + column * _k1), e / tl.sum(e, axis=0), mask=rows < n_rows)",
    ]


def test_a_kernel_without_a_script(tmp_path: Path) -> None:
    done = command(
        f"{WALKS}::column_sum",
        *("--arg", "x_ptr=fp32[64,48]strides=(64,1)offset=4", "--arg", "out_ptr=fp32[48]"),
        *("--arg", "n_rows=64", "--arg", "n_cols=64", "--arg", "BLOCK=32", "--grid", "cdiv(n_cols, 64) * 48"),
    )
    assert done.returncode == 0, done.stderr
    assert "column_sum: load x_ptr, stride 64, extent 64" in done.stdout
    assert "addresses of 48 of 48 programs as predicted, outputs equal" in done.stdout


def test_the_launch_function_of_a_file(tmp_path: Path) -> None:
    script = tmp_path / "k.py"
    body = WALKS.read_text().replace("def launch_column_sum", "def launch")
    script.write_text(body.split("if __name__")[0])
    done = command(f"{script}::column_sum")
    assert done.returncode == 0, done.stderr
    assert "column_sum: load x_ptr, stride 40, extent 96" in done.stdout


def test_a_module(tmp_path: Path) -> None:
    (tmp_path / "test_kernel.py").write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(WALKS.parent)!r})\n"
        "import walks\n"
        "def test_it():\n    walks.launch_pointer_walk()\n"
    )
    done = command("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_kernel.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "pointer_walk: load x_ptr, stride 24, extent 128" in done.stdout


def test_one_line(tmp_path: Path) -> None:
    line = next(
        k for k, t in enumerate(WALKS.read_text().split("\n"), 1) if "tl.store(out_ptr + row * n + i" in t
    )
    done = command("--line", str(line), str(WALKS), "plus_transposed")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("verdict") == 1
    assert "plus_transposed: store out_ptr, stride 1" in done.stdout


def test_nothing_flagged_is_no_failure() -> None:
    done = command(str(WALKS), "plain_copy")
    assert (done.returncode, done.stdout) == (0, "")
    assert "no access is flagged (--all takes every one)" in done.stderr


def test_check_takes_the_evidence(tmp_path: Path) -> None:
    """``verify``'s places are those of ``check``; a measurement of another text of the line is left out."""
    table = tmp_path / "out.json"
    assert command("--json", str(table), str(WALKS), "column_sum").returncode == 0
    document = json.loads(table.read_text())
    (result,) = document["results"]
    result["measured"] = {"ratio": 2.58, "low": 2.57, "high": 2.59}
    document["device"] = "NVIDIA H200"
    table.write_text(json.dumps(document))
    told = run("check", str(WALKS), "--evidence", str(table))
    here = [line for line in told.stdout.split("\n") if f".py:{result['line']}:" in line]
    assert len(here) == 1 and here[0].endswith("(measured 2.6x slower on NVIDIA H200)")
    hidden = run("check", str(WALKS), "--evidence", str(table), "--min-slowdown", "3")
    assert f".py:{result['line']}:" not in hidden.stdout
    result["source"] = "another line"
    table.write_text(json.dumps(document))
    assert "measured" not in run("check", str(WALKS), "--evidence", str(table)).stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_nothing_behind(tmp_path: Path, number: int) -> None:
    script = tmp_path / "slow.py"
    script.write_text("import time\ntime.sleep(600)\n")
    folder = tmp_path / "tmp"
    folder.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "coalesce_lint", "verify", "--device", "cpu", str(script)],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COALESCE_LINT_TMPDIR": str(folder)},
        start_new_session=True,
        # a test run in the background of a shell inherits that SIGINT is ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None,
    )
    assert process.stderr is not None
    while "running the program" not in process.stderr.readline():
        assert process.poll() is None
    time.sleep(0.5)
    assert children_of(process.pid)
    process.send_signal(number)
    assert process.wait(30) == 130
    assert list(folder.iterdir()) == []
    assert children_of(process.pid) == []


def children_of(number: int) -> list[int]:
    """Processes that were started by a process and have not ended (a parent that has ended is 1)."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == number and fields[0] != "Z":
                found.append(int(entry.name))
    return found
