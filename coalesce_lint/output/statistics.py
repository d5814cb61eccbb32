"""How many findings there are of each rule, the most frequent first."""

from __future__ import annotations

from collections import Counter

from coalesce_lint.check import Outcome


def render(outcome: Outcome) -> str:
    """One line a rule: the number, the code, the name."""
    counts = Counter((f.code, f.name) for f in outcome.findings)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    width = max((len(str(n)) for n in counts.values()), default=0)
    return "".join(f"{number:>{width}}  {code}  {name}\n" for (code, name), number in ordered)
