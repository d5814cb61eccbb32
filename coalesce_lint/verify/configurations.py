"""The configurations that an autotuner chooses from, each with the launch that it makes of a call.

Heuristics between the autotuner and the kernel, and a grid that depends on the configuration, are asked as
they are in a launch: the autotuner's own function is called once for each configuration, and the launch that
comes out at the kernel is written down in place of being made.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from coalesce_lint.verify import closure
from coalesce_lint.verify.worker import describe

#: Configurations of one kernel that are kept.
KEPT = 64

#: What ``ask`` gives for one configuration: the launch, as ``Watcher.launch`` describes it.
Ask = Callable[[Callable[[], Any]], "dict[str, Any] | None"]


class Tuners:
    """Calls of autotuners that are under way, innermost last."""

    def __init__(self) -> None:
        self.running: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = []

    def wrapped(self, original: Any) -> Any:
        """``Autotuner.run``, with a note of the call for as long as it lasts."""
        running = self.running

        def run(tuner: Any, *args: Any, **kwargs: Any) -> Any:
            running.append((tuner, args, kwargs))
            try:
                return original(tuner, *args, **kwargs)
            finally:
                running.pop()

        return run

    def configurations(self, kernel: Any, launch: dict[str, Any], ask: Ask) -> list[dict[str, Any]]:
        """What the tuner of ``kernel`` chooses from, the chosen one first; empty where there is no choice.

        ``launch`` is the launch under the chosen configuration. An entry has the configuration's ``kwargs``,
        ``num_warps`` and ``num_stages``, and of the launch that it makes ``grid``, ``options`` and those
        ``arguments`` that differ; or a ``reason`` why it is left out.
        """
        if not self.running:
            return []
        tuner, args, kwargs = self.running[-1]
        if closure.python_function(tuner) is not closure.python_function(kernel) or len(tuner.configs) < 2:
            return []
        chosen = tuner.best_config
        considered = [chosen, *(c for c in tuner.prune_configs(kwargs) if c != chosen)]
        found = []
        for config in considered[:KEPT]:
            entry: dict[str, Any] = {
                "kwargs": {k: plain(v) for k, v in config.kwargs.items()},
                "num_warps": config.num_warps,
                "num_stages": config.num_stages,
                "chosen": config is chosen,
                "reason": None,
            }
            if config is chosen:
                entry.update(grid=launch["grid"], options=launch["options"], arguments={})
            elif hooked(config, chosen, launch):
                entry["reason"] = "a hook of its own runs before its launch"
            else:
                call = functools.partial(tuner.fn.run, *args, **{**kwargs, **config.all_kwargs()})
                entry.update(self.made(launch, call, ask))
            found.append(entry)
        return found

    def made(self, launch: dict[str, Any], call: Callable[[], Any], ask: Ask) -> dict[str, Any]:
        """Grid, options and differing arguments of the launch that ``call`` would make."""
        try:
            other = ask(call)
        except Exception as error:
            return {"reason": f"its launch could not be asked for: {describe(error)}"}
        if other is None:
            return {"reason": "it makes no launch"}
        ours = launch["arguments"]
        differing = {n: s for n, s in other["arguments"].items() if s != ours.get(n)}
        if set(other["arguments"]) != set(ours) or any(points(s) for s in differing.values()):
            return {"reason": "it is launched with other tensors"}
        return {"grid": other["grid"], "options": other["options"], "arguments": differing}


def hooked(config: Any, chosen: Any, launch: dict[str, Any]) -> bool:
    """Whether a hook prepares memory, or a descriptor, otherwise than it was captured with the chosen
    configuration."""
    if any(s["kind"] == "descriptor" for s in launch["arguments"].values()):
        return config.pre_hook is not None or chosen.pre_hook is not None
    return config.pre_hook is not None and config.pre_hook is not chosen.pre_hook


def points(spec: dict[str, Any]) -> bool:
    if spec["kind"] == "tuple":
        return any(points(v) for v in spec["values"])
    return spec["kind"] in ("tensor", "descriptor")


def plain(value: Any) -> Any:
    value = closure.constant(value)
    return value if isinstance(value, (bool, int, float, str, type(None))) else repr(value)


def configured(launch: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any]:
    """The captured launch under another configuration."""
    return {
        **launch,
        "arguments": {**launch["arguments"], **entry["arguments"]},
        "options": entry["options"],
        "grid": entry["grid"],
    }


def describe_configuration(entry: dict[str, Any]) -> str:
    """One phrase for people: "BLOCK=64, 2 warps, 3 stages"."""
    own = [f"{name}={value}" for name, value in entry["kwargs"].items()]
    counts = [
        f"{entry[key]} {word}{'' if entry[key] == 1 else 's'}"
        for key, word in (("num_warps", "warp"), ("num_stages", "stage"))
    ]
    return ", ".join([*own, *counts])
