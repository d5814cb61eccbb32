"""
A hint that is not so, or not sure.

## What it does
Judges `tl.multiple_of`, `tl.max_contiguous` and `tl.max_constancy` by what the kernel itself says of the
hinted value. A hint that is false for some program of every launch is an error. A hint that is neither
proved nor refuted is told only where the rule is selected by name (`--select CL302`), for most hints state
what only the host can know.

A hint is unproven where a division, a wrap or a loaded value stands in between, or where the value is an
argument. `tl.assume(n % 16 == 0)` counts as a proof for `n`.

## Why is this bad
The compiler does not check hints, it uses them. From `tl.max_contiguous(tl.multiple_of(i % M, BM), BM)` it
makes 16-byte accesses across the wrap. Where the hint is false they read and write the wrong elements, or
fault with a misaligned address, and only for the sizes that nobody tested.

## Example
```python
import triton
import triton.language as tl


@triton.jit
def spread(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    group = tl.max_contiguous(i // 4, 16)
    tl.store(y_ptr + i, tl.load(x_ptr + group))
```

## Use instead
```python
import triton
import triton.language as tl


@triton.jit
def spread(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    group = tl.max_constancy(i // 4, 4)
    tl.store(y_ptr + i, tl.load(x_ptr + group))
```

## How to fix
Take the hint away where it is false. Where it holds only for some launches, mask the edge instead of
wrapping the index, so that the compiler proves the run without a hint; or state the condition with
`tl.assume` and check it in the host code.

## Evidence
A wrapped row index that is hinted as contiguous and aligned ends in "misaligned address" in the last block
when M is no multiple of BM (bug reports against public kernels). The rule follows what Triton's AxisInfo
makes of the three hints: they override what it has found out.
"""

from collections.abc import Iterable

from coalesce_lint.access import Kernel
from coalesce_lint.findings import Finding, Rule


class WrongHint(Rule):
    code = "CL302"
    name = "wrong-hint"
    summary = "a hint to the compiler that is not so (where selected by name: not sure)"
    severity = "error"

    def check_kernel(self, kernel: Kernel) -> Iterable[Finding]:
        for hint in kernel.hints:
            if hint.verdict == "proved":
                continue
            refuted = hint.verdict == "refuted"
            said = "is false" if refuted else "is not proved"
            yield Finding(
                code=self.code,
                name=self.name,
                place=hint.place,
                message=f"tl.{hint.kind} {said}: {hint.reason}; the compiler uses it unchecked",
                severity="error" if refuted else "warning",
                confidence="proved" if refuted else "assumed",
                kernel=kernel.name,
                optional=not refuted,
            )
