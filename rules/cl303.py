"""
Vector width lost to a base, a pitch or a mask's bound.

## What it does
Reports an access whose lanes are side by side, and known to be, but which moves fewer bytes an instruction
than the tile allows, because of a number in the kernel:

- the address starts a number of elements off (`x_ptr + 1 + i`);
- the rows of a tile lie apart by a number that is not a multiple of 16 bytes (`row * 1894 + col`);
- the mask ends at a number that is not a multiple of 16 (`i < 1021`), or at an argument that
  `do_not_specialize` hides.

The same bound or pitch is told once a kernel. Only numbers and hidden arguments count: a bound or a pitch
that the launch passes may well be a multiple of 16, and then nothing is lost. An access is left out by the
same weights as for CL101. Element types that neither an annotation nor the setting `element-types` gives are
taken as fp32.

## Why is this bad
A thread moves up to 16 bytes with one instruction, if the address is a multiple of 16 and all lanes of the
group are masked alike. Otherwise it takes two or four times the instructions and look-ups for the same
bytes. L1 answers the repeated look-ups, so that little time is lost in a copy (severity info); kernels that
the look-ups limit (matrix products, asynchronous copies) lose more.

## Example
```python
import triton
import triton.language as tl


@triton.jit
def shift(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + 1 + i, mask=i < n)
    tl.store(y_ptr + i, x, mask=i < n)
```

## Use instead
```python
import triton
import triton.language as tl


@triton.jit
def shift(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x, mask=i < n)
```

## How to fix
- Pad the pitch to a multiple of 16 bytes where the tensor is made, and the mask's bound to a multiple of 16.
- Pass a pointer that starts where the kernel reads, or give the header that shifts the rows a whole 16 bytes.
- Take the bound out of `do_not_specialize`.
- A halo (`i - 1`, `i`, `i + 1`) has no aligned form; leave it.

## Evidence
One NVIDIA H200, Triton 3.6.0, hardware counters, fp32.

- Copy with the base off by one element: 16.25 sectors for each of four times as many requests; on 256 MiB
  1359 against 537 MB of look-ups, the same 804 MB beyond L1 and the same 130 us.
- Mask's bound off by 3: 2147 MB of look-ups, 1022 MB beyond L1 (split writes), 156 us: 1.2 times.
- fp16 matrix product of 4096^3 with N = 4088, a multiple of 8 only: 0.94 ms against 0.23 ms.
"""

from collections.abc import Iterable

from coalesce_lint.access import Access, Kernel
from coalesce_lint.advice import operation, worth_telling
from coalesce_lint.findings import Finding, Rule
from coalesce_lint.losses import Loss, bound_of, odd_pitch, odd_start, surest_loss
from coalesce_lint.waste import WASTE, waste_of


class LostVectors(Rule):
    code = "CL303"
    name = "lost-vectors"
    summary = "vector width lost to a base, a pitch or a mask's bound"
    severity = "info"

    def check_kernel(self, kernel: Kernel) -> Iterable[Finding]:
        told: dict[str, Finding] = {}
        for access in worth_telling(kernel):
            loss = surest_loss(access, kernel)
            said = cause_of(access, kernel, loss) if loss is not None else None
            if loss is None or said is None:
                continue
            cause, way_out = said
            if cause in told:  # one bound or pitch, one finding
                told[cause].related.append((access.place, "the same here"))
                continue
            found = waste_of(access, kernel)
            if found is not None and found.lookups < WASTE:
                continue
            costs = f" ({found.words})" if found is not None else ""
            condition = f" where {access.condition}" if access.condition else ""
            told[cause] = self.finding(
                access,
                f"{operation(access)} of {access.pointer} moves {loss.vector} of {loss.best} elements an "
                f"instruction{condition}: {cause}{costs}; {way_out}",
                confidence="assumed" if condition else "proved",
            )
        for finding in told.values():
            same = [p for p, said in finding.related if said == "the same here"]
            others = len({(p.path, p.line, p.column) for p in same})
            if others:
                finding.message += f" ({others} more in this kernel)"
            yield finding


def cause_of(access: Access, kernel: Kernel, loss: Loss) -> tuple[str, str] | None:
    """What keeps the vectors short and the way out; None where it is not a number in the kernel."""
    if loss.kind == "mask":
        bound = bound_of(kernel.model.launches[0], access, loss.axis)
        if bound is None:
            return None
        if bound.isdecimal():
            return f"the mask ends at {bound}", "pad the bound to a multiple of 16"
        return f"the mask's bound {bound} is kept from being specialized", f"let {bound} be specialized"
    if loss.kind != "alignment":
        return None
    pitch = odd_pitch(access, loss.best)
    if pitch is not None:
        return f"rows lie {pitch} elements apart", f"pad the pitch to a multiple of {loss.best} elements"
    start = odd_start(access, loss.best)
    if start is None:
        return None
    return (
        f"the address of {access.pointer} starts {start:+d} elements off",
        "shift the base to a multiple of 16 bytes",
    )
