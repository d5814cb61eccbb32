"""
Lanes that read neighbours, which the compiler cannot prove.

## What it does
Reports an access whose lanes are side by side in memory in truth, but not in what Triton's compiler can
prove of the offset. The compiler then takes the axis for one without a unit stride: it lays the lanes along
another axis, or moves one element an instruction where four or eight would do.

The message names the axis, the operation at which the proof is lost, what a request costs by the model of
the compiler (in sectors of 32 bytes), and the way out. The launch that is assumed for this is a kind one:
arguments are multiples of 16, innermost strides are 1, pointers are aligned. What is lost then is lost under
every launch. The one exception is marked by "unless": an index wrapped by `% n` along the lanes keeps its
run as long as `n` is a multiple of 16, and loses it otherwise; as nothing is lost for sure, it is of severity
info.

Severity is warning where lanes go to another axis, info where they stay in order and only the vectors are
lost (a descending index in one dimension). An access is left out by the same weights as for CL101.

## Why is this bad
Lanes go where the compiler proves contiguity, not where it is. A tile with rows of neighbours whose lanes
run down the columns fetches a sector for every element, and writes are worse than reads: every store of a
warp goes out as 32 partial sectors.

## Example
```python
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, n_rows, n_cols, pitch, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.program_id(1) * COLS + tl.arange(0, COLS)
    cols = tl.minimum(cols, n_cols - 1)
    at = rows[:, None] * pitch + cols[None, :]
    inside = rows[:, None] < n_rows
    tl.store(y_ptr + at, 2 * tl.load(x_ptr + at, mask=inside), mask=inside)
```

## Use instead
```python
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, n_rows, n_cols, pitch, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.program_id(1) * COLS + tl.arange(0, COLS)
    at = rows[:, None] * pitch + cols[None, :]
    inside = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    tl.store(y_ptr + at, 2 * tl.load(x_ptr + at, mask=inside), mask=inside)
```

## How to fix
- A wrap (`%`) or a clamp (`tl.minimum`, `tl.where`) along the lanes: leave the index alone and mask the edge.
- A stride in `do_not_specialize`, or one with an integer annotation: the compiler never learns that it is 1.
  Let it specialize, or make it a `tl.constexpr`.
- `tl.reshape` of a flat index: make the tile from two `tl.arange`s. Triton 3.9 keeps the run through a
  reshape, 3.6 does not.
- A descending index: read upwards and turn the tile round with `tl.flip`.
- `|` or `^` for `+`: write `+` where the bits do not overlap.
- Only where it is sure for every launch: `tl.max_contiguous(tl.multiple_of(index, 16), 16)`. The compiler
  believes it unchecked; see CL302.

## Evidence
One NVIDIA H200, sectors for each request by hardware counters.

- fp16 tile, unit axis wrapped by `% N`: 16 for N = 1024, 32 in eight times as many requests for N = 997
  (Triton 3.6.0); with 3.9.0, 2 a request. On 256 MiB, wrapped by 8184 against 8192: 1011 against 79 us with
  3.6.0, 95 against 90 us with 3.9.0.
- Row-major fp32 tile of 64x64 whose strides are not specialized: 32 in four times as many requests (3.6.0),
  4 (3.9.0); 1018 against 139 us on 256 MiB with 3.6.0, of 3680 MB beyond L1 3258 written.
- `tl.reshape` of a flat offset to 64x64: 32 sectors in 2048 requests with 3.6.0, 16 in 512 with 3.9.0.
- A reversed copy of one dimension: 16 sectors in four times as many requests, and no measurable loss of time
  (130 us as for the plain copy of 256 MiB): hence info.
"""

from collections.abc import Iterable

from coalesce_lint.access import Access, Kernel
from coalesce_lint.advice import operation, worth_telling
from coalesce_lint.findings import Finding, Rule
from coalesce_lint.losses import Loss, conditional_wrap, surest_loss
from coalesce_lint.waste import WASTE, waste, waste_of

_WAYS_OUT = {
    "mod": "mask the edge instead of wrapping the index",
    "min": "mask the edge instead of clamping the index",
    "max": "mask the edge instead of clamping the index",
    "where": "mask the lanes instead of choosing another index for them",
    "reshape": "make the tile of two tl.aranges ([:, None] and [None, :]) instead of a reshape",
    "sub": "count upwards and turn the tile round with tl.flip",
    "div": "take a tile of the distinct elements and spread it afterwards (tl.join, a broadcast)",
    "or": "write + where the bits do not overlap",
    "xor": "write + where the bits do not overlap",
}
_OTHERWISE = "give the index as a sum of a scalar and one tl.arange"


class UnprovedContiguity(Rule):
    code = "CL301"
    name = "unproved-contiguity"
    summary = "lanes read neighbours, but the compiler cannot prove it"

    def check_kernel(self, kernel: Kernel) -> Iterable[Finding]:
        for access in worth_telling(kernel):
            loss = surest_loss(access, kernel)
            if loss is not None and loss.kind == "contiguity":
                yield from self._lost(access, kernel, loss)
            elif loss is None:
                yield from self._wrapped(access, kernel)

    def _lost(self, access: Access, kernel: Kernel, loss: Loss) -> Iterable[Finding]:
        found = waste_of(access, kernel)
        if found is not None and found.lookups < WASTE:
            return
        costs = f" ({found.words})" if found is not None else ""
        through = f" through {loss.culprit.words}" if loss.culprit is not None else ""
        where = "and lays them along another axis" if loss.elsewhere else "and moves them one by one"
        condition = f"where {access.condition} " if access.condition else ""
        yield self.finding(
            access,
            f"{operation(access)} of {access.pointer}: {condition}lanes along axis {loss.axis} are "
            f"neighbours, but {compiler(kernel)} cannot prove it{through} {where}{costs}; {way_out(loss)}",
            severity="warning" if loss.elsewhere else "info",
            confidence="assumed" if access.condition else "proved",
        )

    def _wrapped(self, access: Access, kernel: Kernel) -> Iterable[Finding]:
        found = conditional_wrap(access, kernel)
        if found is None:
            return
        modulus, cost = found
        lost = waste(access, cost) if cost is not None else None
        if lost is not None and lost.lookups < WASTE:
            return
        costs = f" ({lost.words})" if lost is not None else ""
        condition = f"where {access.condition} and " if access.condition else ""
        yield self.finding(
            access,
            f"{operation(access)} of {access.pointer}: {condition}unless {modulus} is a multiple of 16, "
            f"{compiler(kernel)} cannot prove that lanes along axis {access.lane_axis} are neighbours and "
            f"lays them along another axis{costs}; {_WAYS_OUT['mod']}",
            severity="info",
            confidence="assumed",
        )


def compiler(kernel: Kernel) -> str:
    """The compiler whose rules were applied."""
    return f"Triton {kernel.model.launches[0].launch.profile.name}"


def way_out(loss: Loss) -> str:
    """The repair for the operation that loses the run."""
    culprit = loss.culprit
    if culprit is None:
        return _OTHERWISE
    if culprit.op == "mul" and culprit.argument:
        return f"let {culprit.argument} be specialized to 1, or make it a tl.constexpr"
    return _WAYS_OUT.get(culprit.op, _OTHERWISE)
