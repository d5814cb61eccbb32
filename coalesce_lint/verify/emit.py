"""``--emit-variant``: the user's file with kernels replaced by their stride-1 variants."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

from coalesce_lint.verify.trial import Subject, Trial


def best_trials(variants: list[tuple[Subject, Trial]]) -> list[tuple[Subject, Trial]]:
    """Of each kernel the variant that permutes most; padded and contiguous ones only where there is no
    other."""
    found: dict[tuple[str, int], tuple[Subject, Trial]] = {}
    for subject, trial in variants:
        entry = subject.closure["functions"][subject.closure["entry"]]
        key = (entry["path"], entry["line"])
        if key not in found or rank(trial) > rank(found[key][1]):
            found[key] = (subject, trial)
    return list(found.values())


def rank(trial: Trial) -> tuple[int, int, int]:
    strided = sum(permutation.stride > 1 for _, permutation in trial.parts)
    natural = all(permutation.pitch == permutation.extent for _, permutation in trial.parts)
    return (strided, not trial.split, natural)


def emit(variants: list[tuple[Subject, Trial]], path: Path) -> list[Path]:
    """Writes the variants, one file for each file of the user's; gives back the files written."""
    by_file: dict[str, list[tuple[Subject, Trial]]] = {}
    for subject, trial in best_trials(variants):
        entry = subject.closure["functions"][subject.closure["entry"]]
        by_file.setdefault(entry["path"], []).append((subject, trial))
    written = []
    for number, (source, members) in enumerate(by_file.items()):
        target = path if not number else path.with_stem(f"{path.stem}_{number + 1}")
        target.write_text(rewritten(source, members))
        written.append(target)
    return written


def rewritten(source: str, members: list[tuple[Subject, Trial]]) -> str:
    """The text of one file with its kernels replaced, from the last to the first."""
    text = members[0][0].closure["files"].get(source, "")
    lines = text.split("\n")
    for subject, trial in sorted(members, key=lambda m: -entry_of(m[0])["line"]):
        assert trial.variant is not None
        entry = entry_of(subject)
        first = entry["line"] - 1
        last = first + entry["source"].rstrip("\n").count("\n")
        top = first
        while top > 0 and lines[top - 1].strip() and not lines[top - 1].startswith(("def ", "class ")):
            top -= 1  # decorators, however many lines they take
        indent = " " * entry["column"]
        new = trial.variant.source
        helpers, kernel = split(new, trial.variant.name)
        kernel = re.sub(rf"def {trial.variant.name}\b", f"def {entry['name']}", kernel, count=1)
        replacement = [
            *(f"{indent}{line}".rstrip() for line in helper_lines(helpers)),
            *(f"{indent}# {line}" for line in comment(subject, trial)),
            *lines[top:first],
            *textwrap.indent(kernel.rstrip("\n"), indent).split("\n"),
        ]
        lines[top : last + 1] = replacement
    return "\n".join(lines)


def entry_of(subject: Subject) -> dict[str, Any]:
    found: dict[str, Any] = subject.closure["functions"][subject.closure["entry"]]
    return found


def split(source: str, name: str) -> tuple[str, str]:
    """Helpers' text and the kernel's own, which comes last."""
    at = re.search(rf"^def {re.escape(name)}\b", source, re.MULTILINE)
    assert at is not None
    return source[: at.start()], source[at.start() :]


def helper_lines(text: str) -> list[str]:
    found = []
    for line in text.strip("\n").split("\n") if text.strip() else []:
        if line.startswith("def "):
            found.append("@triton.jit")
        found.append(line)
    return [*found, "", ""] if found else []


def comment(subject: Subject, trial: Trial) -> list[str]:
    """What was permuted and what a launch must pass."""
    assert trial.variant is not None
    found = [
        "coalesce-lint: stride-1 variant, a starting point for the fix. Made for one captured launch; in it"
    ]
    for region, permutation in trial.parts:
        names = ", ".join(trial.variant.copies) or ", ".join(region.parameters)
        what = "points to a permuted copy" if trial.split else "is stored permuted"
        found.append(f"{names} {what}: {permutation.describe()}.")
        found.append(
            f"  element a*{permutation.block} + b*{permutation.stride} + c lies at "
            f"a*{permutation.stride * permutation.pitch} + c*{permutation.pitch} + b"
        )
    if trial.variant.arguments:
        values = ", ".join(f"{name} = {value}" for name, value in trial.variant.arguments.items())
        found.append(f"new arguments, in elements: {values}")
    return found
