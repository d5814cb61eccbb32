"""
Lanes that run against the grain of a tensor's layout.

## What it does
Recognizes two layouts in the offset of a strided access and says which one the access wants:

- images: lanes over the channels of an NCHW tensor (`b*C*H*W + c*H*W + pixel`, lanes on `c`), or over the
  pixels of an NHWC one. Told from the nested products of sizes, and from the sizes' names (C, H, W, HW,
  channels, height, width);
- KV caches: an append whose lanes run over the head dimension while another dimension has stride 1
  (`cache[block, head, dim, slot]`), so that one new token is written into as many sectors as it has elements.
  Rows that are scattered into another transposed tensor (scales with the rows last) are told alike.

The finding is an info: CL101 or CL102 reports the same access with its cost. This one names the layout.
Silent where every launch in the checked files leaves the access out (`if TRANSPOSED:` with a constexpr that
is False).

## Why is this bad
Neither layout is better in itself; a layout that the lanes run across is. In NCHW neighbouring channels lie
H*W elements apart, in NHWC neighbouring pixels C elements.

## Example
```python
import triton
import triton.language as tl


@triton.jit
def scale_nchw(x_ptr, scale_ptr, C, HW, LANES: tl.constexpr):
    b, pixel = tl.program_id(0), tl.program_id(1)
    c = tl.arange(0, LANES)
    at = b * C * HW + c * HW + pixel
    x = tl.load(x_ptr + at, mask=c < C)
    tl.store(x_ptr + at, x * tl.load(scale_ptr + c, mask=c < C), mask=c < C)
```

## Use instead
```python
import triton
import triton.language as tl


@triton.jit
def scale_nchw(x_ptr, scale_ptr, C, HW, LANES: tl.constexpr):
    b, c = tl.program_id(0), tl.program_id(1)
    pixel = tl.program_id(2) * LANES + tl.arange(0, LANES)
    at = b * C * HW + c * HW + pixel
    x = tl.load(x_ptr + at, mask=pixel < HW)
    tl.store(x_ptr + at, x * tl.load(scale_ptr + c), mask=pixel < HW)
```

## How to fix
- Put the lanes along the dimension that the layout has last, or keep the tensor in the other layout
  (`channels_last`) for the whole model. A conversion between two kernels costs a pass over the tensor.
- Fusing a kernel that wants the one layout with a neighbour that wants the other can still be right: one of
  them runs against the grain, and an intermediate is neither written nor read back.
- KV caches: choose the layout for the attention kernel that reads it, and look at the append. With dim last,
  both [blocks, block_size, heads, dim] and [blocks, heads, block_size, dim] are written and read in full
  sectors; the order of block_size and heads is no matter of coalescing. Keys and values may want different
  layouts, for q.k sums over dim and p.v over tokens.

## Evidence
Measured on one NVIDIA H200 with hardware counters, Triton 3.6.0: channel scale in NCHW with the lanes on
channels takes 8.3 times as long as in NHWC.
"""

import re
from collections.abc import Iterable

from coalesce_lint.access import Access, Kernel, Summand
from coalesce_lint.advice import operation, strided_accesses
from coalesce_lint.findings import Finding, Rule
from coalesce_lint.launches.guards import never_runs

_SPATIAL = re.compile(
    r"(?i)^([io]?[hwd]|[io]?h_?w|(in|out|input|output)?_?(height|width|spatial|pixels?|area).*|.*_(h|w|hw|height|width))$"
)
_CHANNEL = re.compile(r"(?i)^(c|c_?(in|out)|[io]c|n?_?channels?|.*_channels?|.*_c|c_.*)$")
_CACHE = re.compile(r"(?i)cache|kv|key|value|(?<![a-z])[kv](?![a-z])")


class AgainstTheGrain(Rule):
    code = "CL206"
    name = "against-the-grain"
    summary = "lanes that run against the grain of a tensor's layout (NCHW, NHWC, KV cache)"
    severity = "info"

    def check_kernel(self, kernel: Kernel) -> Iterable[Finding]:
        for access in strided_accesses(kernel, lambda a: a.lane_axis is not None):
            said = _image(access) or _append(access)
            if said is not None and not never_runs(access, kernel):
                message = f"{operation(access)} of {access.pointer} runs against the grain: {said}"
                yield self.finding(access, message, confidence="assumed")


def _factors(summand: Summand) -> frozenset[str]:
    return frozenset((*summand.parameters, *summand.constexprs))


def _image(access: Access) -> str | None:
    """The layout of an image that the lanes run across, and what the access wants."""
    lane = [s for s in access.summands if access.lane_axis in s.axes]
    rest = [s for s in access.summands if s.kinds and access.lane_axis not in s.axes]
    if len(lane) != 1 or abs(lane[0].number) != 1 or not any(not _factors(s) for s in rest):
        return None
    step = _factors(lane[0])
    outer = [_factors(s) - step for s in rest if _factors(s) > step]
    if not step or not outer:
        return None
    if all(_SPATIAL.match(n) for n in step) and any(all(_CHANNEL.match(n) for n in o) for o in outer):
        return (
            f"lanes run over the channels of an NCHW tensor, {'*'.join(sorted(step))} elements "
            "apart; this access "
            f"wants NHWC (channels_last), or its lanes on the pixels"
        )
    if all(_CHANNEL.match(n) for n in step) and any(all(_SPATIAL.match(n) for n in o) for o in outer):
        return (
            f"lanes run over the pixels of an NHWC tensor, {'*'.join(sorted(step))} elements "
            "apart; this access "
            f"wants NCHW, or its lanes on the channels"
        )
    return None


def _append(access: Access) -> str | None:
    """A row that is written where a loaded index says, into a tensor in which such rows lie side by side."""
    slot = any(abs(s.number) == 1 and not _factors(s) and s.kinds == {"loaded"} for s in access.summands)
    if not access.is_write or not slot or access.call_chain:
        return None
    row = f"the elements of one new row land {access.lane_stride} elements apart, for the loaded "
    if _CACHE.search(access.pointer):
        return (
            f"{row}slot owns the unit stride; a cache with the head dimension last is written and read "
            "in full sectors"
        )
    return (
        f"{row}row index owns the unit stride; with the elements of a row last it is written in full sectors"
    )
