"""
A file that may hold kernels and could not be read as Python.

## What it does
Reports a file that mentions jit and Triton, so that it may hold kernels, and that is not Python 3 source
text: a syntax error, Python 2, an encoding that is not what the file says it is, binary data. The other
files are checked all the same, and so are the other kernels of a file where one kernel is too large to be
read to its end. A file that cannot hold a kernel is never parsed and never reported, whatever it contains.
The rule stays on when `--select` names other rules; only `--ignore CL901` turns it
off.

## Why is this bad
No access of the file was looked at. Without this finding, a run that found nothing would look like a run
that found nothing wrong.

## Example
```python
import triton


@triton.jit
def kernel(x_ptr):
    print "a statement of Python 2"
```

## Use instead
```python
import triton


@triton.jit
def kernel(x_ptr):
    print("a function of Python 3")
```

## How to fix
Repair the line that the message names. Where the file is not meant to be Python (a template, a test's bad
input), leave it out: list it under `exclude` in `[tool.coalesce-lint]` of pyproject.toml, or do not pass
it.

## Evidence
None is needed: this rule is about the file, not about the hardware.
"""

from collections.abc import Iterable

from coalesce_lint.access import FileError, Place
from coalesce_lint.findings import Finding, Rule


class UnparsableFile(Rule):
    code = "CL901"
    name = "unparsable-file"
    summary = "a file that may hold kernels and could not be read as Python"
    severity = "error"
    always = True

    def check_error(self, error: FileError) -> Iterable[Finding]:
        place = Place(error.path, error.line, error.column, error.line, error.column)
        if error.kernel is not None:
            message = f"kernel {error.kernel} is not wholly checked: {error.message}"
        else:
            message = f"not checked, the file cannot be read as Python: {error.message}"
        yield Finding(self.code, self.name, place, message, severity=self.severity)
