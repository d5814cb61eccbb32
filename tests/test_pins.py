import pytest
from support import run

from coalesce_lint import pins
from coalesce_lint.pins import PinError, PointerPin, make_pins, parse_args, parse_grid


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("n=4096", 4096),
        ("n=-1", -1),
        ("n=0x10", 16),
        ("n=1_000", 1000),
        ("eps=1e-5", 1e-5),
        ("CAUSAL=True", True),
        ("bias=None", None),
        ("ACT=relu", "relu"),
        ("ACT='relu'", "relu"),
        ("DTYPE=tl.float16", "tl.float16"),
        ("x=*fp32", PointerPin("fp32", 16)),
        ("x=*fp16:2", PointerPin("fp16", 2)),
        (" x = *bf16:8 ", PointerPin("bf16", 8)),
    ],
)
def test_values(text, value):
    (told,) = parse_args([text]).values()
    assert told == value
    assert type(told) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "n",
        "=3",
        "n=",
        "2n=3",
        "a b=3",
        "n=[1]",
        "n=(1,2)",
        "x=*float32",
        "x=*",
        "x=*fp32:",
        "x=*fp32:3",
        "x=*fp32:0",
    ],
)
def test_bad_text_is_one_line_that_names_it(text):
    with pytest.raises(PinError) as caught:
        parse_args([text])
    assert "\n" not in str(caught.value)
    assert "--arg" in str(caught.value)


def test_a_name_given_twice_is_an_error():
    with pytest.raises(PinError, match="n is given twice"):
        parse_args(["n=1", "n=2"])


def test_a_deeply_nested_value_is_text_or_an_error_and_no_crash():
    assert isinstance(parse_args(["n=" + "-" * 20000 + "1"])["n"], (str, int))


def test_grid():
    assert parse_grid("128") == (128,)
    assert parse_grid("128, 4,2") == (128, 4, 2)


@pytest.mark.parametrize("text", ["", "0", "1,2,3,4", "a", "1,", "-1", "1.5"])
def test_bad_grid(text):
    with pytest.raises(PinError, match="--grid"):
        parse_grid(text)


def test_warps_and_architecture():
    assert make_pins(num_warps=8, arch="sm_90").arch == "sm90"
    with pytest.raises(PinError, match="--num-warps 3"):
        make_pins(num_warps=3)
    with pytest.raises(PinError, match="--arch gfx942"):
        make_pins(arch="gfx942")


@pytest.mark.parametrize(
    ("installed", "profile"),
    [("3.6.0", "3.6"), ("3.9.0", "3.9"), ("3.8.1", "3.6"), ("4.0.0", "3.9"), ("2.1.0", "3.6"), ("x", "3.6")],
)
def test_the_profile_is_that_of_the_installed_triton(monkeypatch, installed, profile):
    monkeypatch.setattr("importlib.metadata.version", lambda name: installed)
    assert pins.installed_profile() == profile


def test_without_triton_the_profile_is_the_oldest(monkeypatch):
    from importlib.metadata import PackageNotFoundError

    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", missing)
    assert make_pins().triton == "3.6"


def test_a_pointer_knows_the_size_of_its_elements():
    assert PointerPin("fp16").element_bytes == 2


KERNEL = """\
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, n_cols, scale, eps, BLOCK: tl.constexpr, TYPE: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x_ptr + row * n_cols + i, mask=i < n_cols).to(TYPE)
    tl.store(y_ptr + row * n_cols + i, v * scale + eps)


@triton.jit
def other(BLOCK, scale):
    tl.store(scale + BLOCK, 1)
"""


@pytest.mark.parametrize(
    ("arg", "said"),
    [
        ("n_cols=abc", "expected a number, not 'abc'"),
        ("n_cols=1e9", "expected an integer; write 1000000000"),
        ("n_cols=*fp16", "it is no pointer"),
        ("x_ptr=5", "a pointer; pin its element type, such as x_ptr=*fp32"),
        ("x_ptr=abc", "a pointer"),
        ("BLOCK=100", "must be a power of two"),
        ("BLOCK=0", "must be a power of two"),
        ("BLOCK=*fp32", "not a pointer"),
        ("n_colls=4", "did you mean n_cols?"),
        ("row=4", "has a parameter of that name; there are x_ptr"),
    ],
)
def test_a_pin_that_cannot_be_meant_is_one_error(tmp_path, arg, said):
    (tmp_path / "k.py").write_text(KERNEL)
    told = run("explain", "--isolated", "--arg", arg, "k.py::kernel", cwd=tmp_path)
    assert told.returncode == 2
    (line,) = told.stderr.splitlines()
    assert line.startswith(f"coalesce-lint: --arg {arg.split('=')[0]}: ")
    assert said in line
    assert "kernel" in told.stdout


@pytest.mark.parametrize(
    "arg",
    [
        *("n_cols=4096", "n_cols=1", "n_cols=0", "BLOCK=128", "TYPE=tl.float16", "TYPE=None", "scale=0.5"),
        *("scale=2.0", "eps=1e-5", "eps=x", "x_ptr=*fp16:2", "x_ptr=None", "BLOCK=1048576"),
    ],
)
def test_a_pin_that_may_be_meant_is_none(tmp_path, arg):
    (tmp_path / "k.py").write_text(KERNEL)
    assert run("explain", "--isolated", "--arg", arg, "k.py::kernel", cwd=tmp_path).stderr == ""


def test_a_pin_that_fits_one_of_the_kernels_is_no_error(tmp_path):
    (tmp_path / "k.py").write_text(KERNEL)
    for arg in ("BLOCK=100", "scale=*fp32"):
        assert run("explain", "--isolated", "--arg", arg, "k.py", cwd=tmp_path).stderr == ""
