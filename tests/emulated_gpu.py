"""Stands in for ``measure_worker`` where there is no GPU: the same arms, memory and comparisons, with kernels
run by Triton's interpreter. Its times mean nothing."""

from __future__ import annotations

import itertools
import time
from types import SimpleNamespace
from typing import Any

import torch

from coalesce_lint.verify import clock, stage
from coalesce_lint.verify.arms import Arm
from coalesce_lint.verify.measure_worker import Bench
from coalesce_lint.verify.proof_worker import Prover
from coalesce_lint.verify.without_gpu import OnCpu


class EmulatedClock(clock.Clock):
    def __init__(self) -> None:
        self.torch = torch
        self.l2_bytes, self.ceiling = 0, 1.0

    def flush(self) -> None:
        pass

    def timed(self, function: Any) -> float:
        begun = time.perf_counter()
        function()
        return (time.perf_counter() - begun) * 1e6


class EmulatedBench(Bench):
    def __init__(self) -> None:
        super().__init__(EmulatedClock())
        self.prover = Prover()
        clock.ROUNDS = (2, 3)
        torch.cuda.mem_get_info = lambda: (1 << 40, 1 << 40)
        bench = self

        def run(arm: Arm) -> None:
            bench.run(arm)

        Arm.run = run  # type: ignore[method-assign]

    def __call__(self, task: dict[str, Any]) -> dict[str, Any]:
        with OnCpu()():
            return super().__call__(task)

    def run(self, arm: Arm) -> None:
        empty = torch.empty(0, dtype=torch.uint8)
        flat = [arm.live.get(k, empty) for k in range(len(arm.launch["storages"]))]
        real = self.prover.real
        real.over(SimpleNamespace(flat=flat, base_of=lambda k: flat[k].data_ptr()))  # type: ignore[arg-type]
        real.events, real.take = [], None
        sizes = (*arm.launch["grid"], 1, 1)[:3]
        with self.prover.patched(arm.kernel, arm.values, tuple(sizes)) as (body, arguments):
            for program in itertools.product(*map(range, sizes)):
                self.prover.run_program(body, arguments, program)


if __name__ == "__main__":
    stage.serve(EmulatedBench)
