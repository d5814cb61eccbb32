"""The compiler as oracle: layouts, instructions, and the sectors that a launch will fetch. Needs no GPU.

``compile_kernels`` gives what the compiler made of each memory operation; ``predict`` adds the addresses of
the interpreter and counts sectors and requests, as the hardware's counters would.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from coalesce_lint.verify import worker
from coalesce_lint.verify.request import Request

#: Seconds that starting Python, torch and Triton may take on a busy machine.
START_SECONDS = 120.0


@dataclass
class SiteCost:
    """What one access of a launch costs. Counts are sums over the whole grid, scaled up from the traced
    programs.

    ``places`` are (file, line from 1, column from 0) of the access and of the calls around it, innermost
    first. ``operations`` are the serial numbers of the compiled operations behind it: none where the
    compiler merged the access with an equal one. ``data_dependent`` says that the addresses came from
    loaded values, which were made up.
    """

    places: list[tuple[str, int, int]]
    kind: str
    element_bytes: int
    requests: float
    sectors: float
    bytes: float
    executions: float
    program_sectors: float
    max_sectors_per_request: float
    data_dependent: bool
    operations: list[int]
    requests_per_warp: float = 0.0

    @property
    def sectors_per_request(self) -> float | None:
        return self.sectors / self.requests if self.requests else None

    @property
    def efficiency(self) -> float | None:
        """Distinct bytes that warps ask for over the bytes of the sectors that they touch."""
        return self.bytes / (32 * self.sectors) if self.sectors else None


@dataclass
class Prediction:
    """Everything the oracle says about one launch, or ``error``.

    ``place`` (file and line) and ``missing`` (names of arguments) say more of an error. ``taken`` are the
    arguments that the launch did not give and that came from the kernel's own configurations and defaults.
    """

    request: Request
    triton: str = ""
    counted_in: str = "sass"  #: "ptx" where no disassembler was found; equal loads are then not merged
    num_warps: int = 4
    sites: list[SiteCost] = field(default_factory=list)
    operations: list[dict[str, Any]] = field(default_factory=list)
    error: str | None = None
    place: tuple[str, int] | None = None
    missing: list[str] = field(default_factory=list)
    taken: dict[str, Any] = field(default_factory=dict)

    def total(self, kind: str) -> tuple[float, float]:
        """Sectors and requests over the grid of all accesses of a kind ("load", "store", "atomic")."""
        chosen = [s for s in self.sites if s.kind == kind]
        return sum(s.sectors for s in chosen), sum(s.requests for s in chosen)


def compile_kernels(
    requests: Sequence[Request],
    python: str | None = None,
    timeout: float | None = None,
    keep_text: bool = False,
    machine_code: bool = True,
) -> list[dict[str, Any]]:
    """What the compiler makes of each launch's kernel: ``operations``, ``num_warps``, ``triton`` or
    ``error``.

    With ``keep_text`` the answers hold "ttgir", "ptx" and "sass" too. Without ``machine_code`` ptxas is
    left out: faster, and equal loads are not merged. Raises ``worker.WorkerError`` where no
    subprocess can be started.
    """
    tasks = [{**r.as_dict(), "keep_text": keep_text, "machine_code": machine_code} for r in requests]
    return worker.run(
        "coalesce_lint.verify.compile_worker",
        tasks,
        timeout or START_SECONDS + sum(r.seconds for r in requests),
        python,
        {"TRITON_ALWAYS_COMPILE": "1", "TRITON_INTERPRET": "0", "TRITON_DEFAULT_FP_FUSION": "1"},
    )


def predict(
    requests: Sequence[Request], python: str | None = None, timeout: float | None = None
) -> list[Prediction]:
    """Sectors and requests of each access of each launch. An entry whose kernel fails has ``error`` set."""
    compiled = compile_kernels(requests, python, timeout)
    tasks, owners = [], []
    answers = [failed(r, c) for r, c in zip(requests, compiled, strict=True)]
    for answer, found in zip(answers, compiled, strict=True):
        if answer.error is None:
            answer.triton, answer.counted_in = found["triton"], found["counted_in"]
            answer.num_warps, answer.operations = found["num_warps"], found["operations"]
            answer.taken = found["taken"]
            operations, warps = answer.operations, answer.num_warps
            tasks.append({**answer.request.as_dict(), "operations": operations, "num_warps_compiled": warps})
            owners.append(answer)
    traced = worker.run(
        "coalesce_lint.verify.trace",
        tasks,
        timeout or START_SECONDS + sum(t["seconds"] for t in tasks),
        python,
        {"TRITON_INTERPRET": "1"},
    )
    for answer, found in zip(owners, traced, strict=True):
        answer.error = found.get("error")
        answer.sites = [site_cost(s, answer.num_warps) for s in found.get("sites", [])]
    return answers


def failed(request: Request, answer: dict[str, Any]) -> Prediction:
    """The prediction of a launch so far: what went wrong when it was compiled, if anything did."""
    place = answer.get("place")
    return Prediction(
        request,
        error=answer.get("error"),
        place=(place[0], place[1]) if place else None,
        missing=answer.get("missing", []),
    )


def site_cost(found: dict[str, Any], num_warps: int) -> SiteCost:
    """One site of the tracer's answer."""
    counts = found["counts"]
    executions = counts["executions"] or 1.0
    return SiteCost(
        places=[(p[0], p[1], p[2]) for p in found["places"]],
        kind=found["kind"],
        element_bytes=found["element_bytes"],
        requests=counts["requests"],
        sectors=counts["sectors"],
        bytes=counts["bytes"],
        executions=counts["executions"],
        program_sectors=counts["program_sectors"] / executions,
        max_sectors_per_request=counts["max_sectors"],
        data_dependent=found["data_dependent"],
        operations=found["operations"],
        requests_per_warp=counts["requests"] / executions / num_warps,
    )
