"""Whether two kernels leave the same in memory, on the GPU."""

from __future__ import annotations

from typing import Any

from coalesce_lint.verify.arms import Arm, NotMeasured
from coalesce_lint.verify.memory import aligned_view
from coalesce_lint.verify.plan import tensors

#: Floating-point outputs may differ by so many units in the last place of the largest value: another layout,
#: or another configuration, takes sums across lanes in another order.
ROUNDING_STEPS = 64

#: What a kernel left in each written storage, by the storage's number.
Outputs = dict[int, Any]


def outputs(arm: Arm, written: list[int]) -> Outputs:
    """What one run over the whole grid leaves."""
    import torch

    arm.restore()
    arm.run()
    torch.cuda.synchronize()
    return arm.outputs(written)


def equal(a: Arm, b: Arm, written: list[int]) -> str | None:
    """Runs both and compares what they leave in memory; a note where it is equal to rounding only. Raises
    NotMeasured where it is not equal."""
    first = outputs(a, written)
    worst = apart(a.launch, first, outputs(b, written))
    if worst is None:
        return None
    again = outputs(a, written)
    varies = any(not bool((first[k] == again[k]).all()) for k in written)
    why = (
        "the original's own outputs vary from run to run"
        if varies
        else "another layout adds in another order"
    )
    return f"outputs equal to rounding, {worst:.0e} of the largest value: {why}"


def apart(launch: dict[str, Any], first: Outputs, second: Outputs) -> float | None:
    """How far two outputs are apart, in units of the largest value; None where they are equal bit by bit.
    Raises NotMeasured where that is not rounding."""
    different = [k for k in first if not bool((first[k] == second[k]).all())]
    return max((_distance(launch, first[k], second[k], k) for k in different), default=None)


def _distance(launch: dict[str, Any], first: Any, second: Any, number: int) -> float:
    import torch

    kinds = {s["dtype"] for _, s in tensors(launch) if s["storage"] == number}
    kind = getattr(torch, next(iter(kinds)))
    if len(kinds) != 1 or not kind.is_floating_point:
        raise NotMeasured("outputs differ on the GPU")
    x, y = (aligned_view(v, kind).to(torch.float64) for v in (first, second))
    finite = x.isfinite() & y.isfinite()
    if bool(
        (torch.where(finite, 0.0, x).nan_to_num(1.5) != torch.where(finite, 0.0, y).nan_to_num(1.5)).any()
    ):
        raise NotMeasured("outputs differ on the GPU: other elements are infinite, no number or not written")
    farthest = float(torch.where(finite, (x - y).abs(), 0.0).max())
    scale = float(torch.where(finite, x.abs(), 0.0).max()) or 1.0
    if farthest > ROUNDING_STEPS * torch.finfo(kind).eps * scale:
        raise NotMeasured(f"outputs differ on the GPU, by {farthest / scale:.1e} of the largest value")
    return farthest / scale
