"""One JSON object a line for each finding, with the fields of ``findings`` in the JSON document."""

from __future__ import annotations

import json

from coalesce_lint.check import Outcome


def render(outcome: Outcome, colour: bool) -> str:
    return "".join(json.dumps(f.as_dict()) + "\n" for f in outcome.findings)
