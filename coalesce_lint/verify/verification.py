"""The run of ``verify``: launches in, one result for each access that was chosen.

A result is a plain dict with the keys of the ``--json`` contract and a few more (README, "Verify").
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import Any

from coalesce_lint.verify import measuring, selftest
from coalesce_lint.verify.choosing import attempt_together, choose, prepare, proxies, unique_trials
from coalesce_lint.verify.flagged import analyze
from coalesce_lint.verify.plan import fill_outputs
from coalesce_lint.verify.results import refused, result, together_result
from coalesce_lint.verify.session import COMPILE, MEASURE, PROVE, Session, Unverifiable
from coalesce_lint.verify.trial import Subject, Trial, Workshop
from coalesce_lint.verify.tuning import Tuner
from coalesce_lint.verify.variant.forms import Refusal


@dataclass
class Outcome:
    results: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failure: str | None = None  #: why the user's program failed
    launches: int = 0
    device: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    variants: list[tuple[Subject, Trial]] = field(default_factory=list)


def verify(session: Session) -> Outcome:
    """Captures the program's launches and verifies them. Raises Unverifiable where there is nothing to
    verify."""
    settings, say = session.settings, session.progress.say
    gpu = measuring.find_gpu(settings.device)
    say("starting the compiler and the interpreter")
    session.warm(COMPILE)
    session.warm(PROVE)
    if gpu is not None:
        session.warm(MEASURE)
    threading.Thread(target=load_linter, daemon=True).start()
    say("running the program" if settings.mode != "kernel" else "launching the kernel")
    captured = session.capture(interpreted=gpu is None)
    outcome = Outcome(notes=list(captured["notes"]), launches=len(captured["launches"]))
    outcome.facts = {"gpu": gpu}
    if not captured["outcome"]["ok"]:
        place = captured["outcome"].get("place")
        where = f"{place[0]}:{place[1]}: " if place else ""
        outcome.failure = f"{where}the program failed: {captured['outcome']['error']}"
    if not captured["launches"]:
        raise Unverifiable(outcome.failure or nothing_launched(captured["notes"]))
    arch = settings.arch or (gpu["arch"] if gpu else 90)
    doubt = selftest.trouble(session, captured["outcome"].get("triton", ""), arch)
    if doubt is not None:
        raise Unverifiable(doubt)
    for number, launch in enumerate(captured["launches"]):
        say(f"{launch['kernel']}: reading and compiling", number, len(captured["launches"]))
        outcome.results += one_launch(session, launch, arch, gpu, outcome)
    session.progress.clear()
    return outcome


def load_linter() -> None:
    """Imports what the linter needs while the program runs."""
    from coalesce_lint.check import load_engine
    from coalesce_lint.findings import all_rules

    load_engine()
    all_rules()


def nothing_launched(notes: list[str]) -> str:
    if notes:
        return notes[0]
    return (
        "the program launched no Triton kernel that can be seen (launches by torch.compile, ahead-of-time "
        "compiled kernels and replays of CUDA graphs are not)"
    )


def one_launch(
    session: Session, launch: dict[str, Any], arch: int, gpu: dict[str, Any] | None, outcome: Outcome
) -> list[dict[str, Any]]:
    closure = json.loads((session.folder / launch["closure"]).read_text())
    known = analyze(closure, launch)
    workshop = Workshop(session, Subject(launch, closure, {}, {}), arch, gpu is not None)
    task = workshop.task(launch)
    compiled = session.ask(COMPILE, task)
    if "error" in compiled:
        return [refused(launch, known, closure, f"the kernel does not compile: {compiled['error']}")]
    session.progress.say(f"{launch['kernel']}: following addresses")
    more = {"operations": compiled["operations"], "num_warps_compiled": compiled["num_warps"]}
    examined = session.ask(PROVE, {**task, **more, "mode": "examine"})
    if "error" in examined:
        return [refused(launch, known, closure, plain_reason(examined))]
    read = {k.pointer for k in known.values() if "store" not in k.op}
    fill_outputs(launch, examined, read)
    subject = workshop.subject = Subject(launch, closure, compiled, examined)
    outcome.facts.setdefault("triton", compiled["triton"])
    chosen = choose(session, subject, known)
    for item in chosen:
        session.progress.say(f"{launch['kernel']}: rewriting and proving line {item.site['places'][0][1]}")
        try:
            prepare(workshop, item, chosen)
        except Refusal as refusal:
            item.reason = str(refusal)
    together = attempt_together(workshop, chosen)
    trials = unique_trials(chosen, together)
    if gpu is not None:
        trials += proxies(workshop, chosen)
    if gpu is not None and trials:
        measuring.measure(session, workshop, trials, outcome.facts)
    tuner = Tuner(session, workshop)
    for trial in reversed(unique_trials(chosen, together, padded=False)):  # first all tensors at once
        tuner.tune(trial, gpu is not None)
    outcome.variants += [(subject, t) for t in trials if not t.proxy]
    results = [result(subject, item, gpu) for item in chosen]
    if together is not None:
        results.append(together_result(subject, chosen, together, gpu))
    return results


def plain_reason(answer: dict[str, Any]) -> str:
    text = str(answer["error"])
    if answer.get("kind") == "OutOfBounds":
        return f"out of bounds: {text.removeprefix('OutOfBounds: ')}"
    if answer.get("kind") == "StageError" and "took longer" in text:
        return (
            f"the kernel does not end within {text.split('longer than ')[1]} in the interpreter (--timeout)"
        )
    return f"its addresses could not be followed: {text}"
