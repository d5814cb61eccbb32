"""
A comment that silences a finding that is not there.

## What it does
Reports a `# noqa: CLnnn` on whose line, and a `# coalesce-lint: off` in whose kernel or file, nothing was
found that it could have silenced, and a `# noqa: CLnnn` whose code no rule has. A bare `# noqa` may be meant
for another linter and is never reported; a code is judged only where its rule runs, `off` only where all
rules of the default set run. The rule is off by default.

## Why is this bad
The comment says that something is wrong with the line, which is not so any more; and it will silence the next
finding there, which nobody has looked at.

## Example
```python
import triton
import triton.language as tl


@triton.jit
def copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)  # noqa: CL101 - it is contiguous
    tl.store(y_ptr + i, x, mask=i < n)  # noqa: CL190 - no rule has this code
```

## Use instead
```python
import triton
import triton.language as tl


@triton.jit
def copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x, mask=i < n)
```

## How to fix
Take the comment, or the code in it, out.

## Evidence
None is needed: this rule is about the comments, not about the hardware.
"""

from collections.abc import Iterable

from coalesce_lint.access import Place
from coalesce_lint.findings import Finding, Rule


class UnusedSuppression(Rule):
    code = "CL902"
    name = "unused-suppression"
    summary = "a comment that silences a finding that is not there"
    default = False

    def check_comment(self, place: Place, said: str) -> Iterable[Finding]:
        yield Finding(
            self.code, self.name, place, f"'{said}' silences nothing: take it out", severity=self.severity
        )
