"""Best against best on the GPU: the original and the variant, each under the configuration that serves it
best."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coalesce_lint.verify.agreement import apart, outputs
from coalesce_lint.verify.arms import Arm, NotMeasured, slots_of
from coalesce_lint.verify.clock import Clock
from coalesce_lint.verify.statistics import median
from coalesce_lint.verify.worker import describe

#: Seconds that choosing may take, and cold rounds of all configurations.
CHOOSING_SECONDS = 6.0
CHOOSING_ROUNDS = (5, 15)

#: How the reason begins where a kernel could not be run.
FAILED = "it failed on the GPU"

#: "before" or "after", and the number of the configuration.
Key = tuple[str, int]


def best_against_best(clock: Clock, task: dict[str, Any]) -> dict[str, Any]:
    """Times both kernels under every configuration, then the two best against each other.

    ``entries`` of the task hold the tasks "before" and "after" of each configuration, the chosen one first;
    either may be None. An answer has "times" (microseconds by side and configuration), "reasons" likewise,
    "best" and the comparison, or "refused" where one side has no configuration left. Raises NotMeasured where
    none can be run.
    """
    entries = task["entries"]
    tasks: dict[Key, dict[str, Any]] = {
        (side, number): entry[side]
        for number, entry in enumerate(entries)
        for side in ("before", "after")
        if entry[side] is not None
    }
    arms, reasons = ready(task, tasks)
    told = {"times": [], "reasons": [[*key, reason] for key, reason in reasons.items()]}
    if {side for side, _ in arms} != {"before", "after"}:
        return {**told, "refused": "no configuration is left to compare"}
    rounds = clock.rounds(clock.cold, arms, CHOOSING_SECONDS, CHOOSING_ROUNDS)
    times = {key: median(found) for key, found in rounds.items()}
    best = {side: quickest(times, side) for side in ("before", "after")}
    return {
        **told,
        "times": [[*key, round(value, 2)] for key, value in times.items()],
        "best": best,
        "compared": clock.compare(arms["before", best["before"]], arms["after", best["after"]]),
    }


def ready(task: dict[str, Any], tasks: dict[Key, dict[str, Any]]) -> tuple[dict[Key, Arm], dict[Key, str]]:
    """The kernels that run and leave what the original leaves under the chosen configuration, and why the
    others are left out."""
    slots, changing = slots_of([t["launch"] for t in tasks.values()], task["written"])
    arms: dict[Key, Arm] = {}
    reasons: dict[Key, str] = {}
    reference: Any = None
    captured: dict[str, Any] = {}  # the launch whose arguments point to the storages that are compared
    latest: dict[str, Arm] = {}
    for key, own in sorted(tasks.items(), key=lambda item: (item[0][0] == "after", item[0][1])):
        like = latest.get(key[0]) or latest.get("before")
        arm = Arm(Path(task["folder"]), own, slots, changing, like)
        latest[key[0]] = arm
        try:
            left = outputs(arm, task["written"])
            if reference is None:
                reference, captured = left, arm.launch
            apart(captured, reference, left)
        except NotMeasured as error:
            reasons[key] = f"{error}, against the chosen configuration"
        except Exception as error:
            reasons[key] = f"{FAILED}: {describe(error)}"
        else:
            arms[key] = arm
    return arms, reasons


def quickest(times: dict[Key, float], side: str) -> int:
    """The configuration with the lowest median."""
    own = {number: value for (other, number), value in times.items() if other == side}
    return min(own, key=lambda number: own[number])
