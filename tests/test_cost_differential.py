"""The static model's requests and sectors against the compiled oracle, on kernels of everyday kinds."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")
pytest.importorskip("torch")

from coalesce_lint.hardware.cost import cost_of_kernel
from coalesce_lint.pins import Pins, installed_profile, make_pins
from coalesce_lint.twin import twin_kernels
from coalesce_lint.verify.compiled import Prediction, predict
from coalesce_lint.verify.request import Request

KERNELS = Path(__file__).resolve().parent / "data" / "common_kernels.py"
MATMUL = "a=*fp16 b=*fp16 c=*fp16 M=512 K=512 sam=512 sak=1 scn=1 BK=32 G=4"
ATTENTION = "q=*fp16 k=*fp16 v=*fp16 o=*fp16 sqh=65536 sqm=64 sqd=1 skh=65536 skn=64 skd=1"
#: Kernel, its arguments as on the command line, grid, warps, architecture.
LAUNCHES = [
    ("softmax", "o=*fp32 x=*fp32 xs=1000 os=1000 n_rows=512 n_cols=1000 BLOCK=1024", "64", 4, "sm90"),
    (
        "layernorm",
        "x=*fp32 y=*fp32 w=*fp32 b=*fp32 mean=*fp32 rstd=*fp32 stride=3001 N=3001 eps=1e-5 BLOCK=1024",
        "64",
        8,
        "sm80",
    ),
    ("matmul", f"{MATMUL} N=512 sbk=512 sbn=1 scm=512 BM=64 BN=64", "64", 4, "sm90"),
    ("matmul", f"{MATMUL} N=504 sbk=504 sbn=1 scm=504 BM=128 BN=64", "32", 8, "sm80"),
    ("rope", "q=*fp16 cos=*fp32 sin=*fp32 sq=4096 sc=64 H=32 HD=128 BH=32", "64", 4, "sm90"),
    ("int4", "qw=*i32 sc=*fp16 o=*fp16 K=512 N=512 sk=512 GS=64 BK=64 BN=64", "8,8", 4, "sm90"),
    ("groupnorm", "x=*fp32 y=*fp32 w=*fp32 C=64 HW=3136 CG=8 BC=8 BH=256", "8,4", 4, "sm90"),
    ("colreduce", "x=*fp16 o=*fp32 M=512 N=1000 BM=16 BN=32", "32", 8, "sm80"),
    ("attn", f"{ATTENTION} N=256 BM=64 BN=64 D=64", "4,8", 4, "sm90"),
    ("swiglu", "x=*fp16 y=*fp16 s=8200 N=4100 BLOCK=1024", "32,5", 4, "sm90"),
    ("transpose3", "x=*fp32 y=*fp32 A=64 B=64 C=64 BA=4 BB=16 BC=32", "16,4,2", 4, "sm90"),
    ("rowstats", "x=*fp16 mx=*fp32 N=256 BM=8 BN=256", "16", 8, "sm80"),
]


def pinned(arguments: str, grid: str, warps: int, arch: str) -> Pins:
    return make_pins(arguments.split(), grid, warps, installed_profile(), arch)


@pytest.fixture(scope="module")
def predictions() -> list[Prediction]:
    return predict(
        [Request.from_pins(str(KERNELS), k, pinned(a, g, w, c), programs=128) for k, a, g, w, c in LAUNCHES]
    )


@pytest.mark.parametrize("number", range(len(LAUNCHES)), ids=[f"{k}-{w}-{c}" for k, _, _, w, c in LAUNCHES])
def test_model_and_oracle_agree(number: int, predictions: list[Prediction]) -> None:
    name, arguments, grid, warps, arch = LAUNCHES[number]
    prediction = predictions[number]
    assert prediction.error is None
    text = KERNELS.read_text()
    kernel, launch = twin_kernels(text, str(KERNELS), pinned(arguments, grid, warps, arch), name)[0]
    cost_of_kernel(kernel, launch)
    sites = {(s.kind, *s.places[0][1:]): s for s in prediction.sites}
    assert len(kernel.accesses) == len(sites)
    for access in kernel.accesses:
        site = sites[access.op, access.place.line, access.place.column]
        cost = access.cost
        assert cost is not None and cost.sectors_per_request is not None
        requests = cost.requests_per_warp * warps * site.executions
        assert requests == pytest.approx(site.requests, rel=0.03), access.source
        assert cost.sectors_per_request * requests == pytest.approx(site.sectors, rel=0.03), access.source
