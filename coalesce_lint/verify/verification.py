"""The run of ``verify``: launches in, one result for each access that was chosen.

A result is a plain dict with the keys of the ``--json`` contract and a few more (README, "Verify").
"""

from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass, field
from typing import Any

from coalesce_lint.verify import measuring, selftest
from coalesce_lint.verify.flagged import Known, analyze, place_key
from coalesce_lint.verify.plan import Region, permutations, region_of, stride_of
from coalesce_lint.verify.session import COMPILE, MEASURE, PROVE, Session, Unverifiable
from coalesce_lint.verify.trial import Subject, Trial, Workshop
from coalesce_lint.verify.variant.forms import Refusal
from coalesce_lint.verify.variant.permutation import Permutation

Site = dict[str, Any]


@dataclass
class Chosen:
    """An access to verify and what came of it."""

    site: Site
    known: Known | None
    region: Region | None = None
    stride: int | None = None
    trial: Trial | None = None
    padded: Trial | None = None
    proxy: Trial | None = None
    reason: str | None = None


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


def choose(session: Session, subject: Subject, known: dict[Any, Known]) -> list[Chosen]:
    """The accesses that were asked for: flagged ones, all, or those on a line."""
    settings = session.settings
    descriptors = {
        place_key(*o["places"][0]) for o in subject.compiled["operations"] if o["kind"] == "descriptor"
    }
    found = []
    for site in subject.sites:
        place = place_key(*site["places"][0])
        access = known.get(place)
        if settings.line is not None:
            wanted = place[1] == settings.line
        else:
            wanted = settings.everything or (access is not None and bool(access.codes))
        if wanted:
            item = Chosen(site, access)
            if place in descriptors:
                item.reason = "not applicable: TMA has no lane sectors"
            found.append(item)
    return found


def prepare(workshop: Workshop, item: Chosen, others: list[Chosen]) -> None:
    """Finds the variant of one access. Raises Refusal."""
    if item.reason is not None:
        return
    site = item.site
    item.stride = stride_of(site)
    item.region = region_of(workshop.subject.launch, site["storages"][0], site["element_bytes"])
    twin = next(
        (o for o in others if o is not item and o.trial is not None and not o.trial.split
         and o.region == item.region and o.stride == item.stride),
        None,
    )  # fmt: skip
    if twin is not None:
        item.trial, item.padded = twin.trial, twin.padded
        return
    options = permutations(item.region, item.stride)
    natural = options[0]
    padded = next((p for p in options[1:] if p.extent == natural.extent), None)
    general = next((p for p in options[1:] if p.extent != natural.extent), None)
    trial = workshop.attempt([(item.region, natural)])
    if not trial.proved and general is not None:
        second = workshop.attempt([(item.region, general)])
        if second.proved:
            trial, padded = second, None
    if trial.proved and item.stride > 1 and not falls(workshop.subject, trial):
        split = split_copy(workshop, item, trial.parts[0][1])
        if split is not None:
            item.trial = split
            return
    if not trial.proved:
        split = split_copy(workshop, item, natural)
        if split is None:
            raise Refusal(trial.reason or "failed proof")
        item.trial = split
        return
    item.trial = trial
    if padded is not None:
        attempt = workshop.attempt([(item.region, padded)])
        item.padded = attempt if attempt.proved else None


def falls(subject: Subject, trial: Trial) -> bool:
    """Whether the variant fetches fewer sectors in all."""
    before = sum(s["counts"]["sectors"] for s in subject.sites)
    return trial.sectors() < 0.999 * before


def split_copy(workshop: Workshop, item: Chosen, permutation: Permutation) -> Trial | None:
    """A variant in which only this load reads a permuted copy, where the kernel never writes the tensor."""
    assert item.region is not None
    if item.site["kind"] != "load" or item.region.storage in workshop.subject.examined["written"]:
        return None
    path, line, column = item.site["places"][0]
    trial = workshop.attempt([(item.region, permutation)], frozenset([(path, line, column)]))
    return trial if trial.proved else None


def attempt_together(workshop: Workshop, chosen: list[Chosen]) -> Trial | None:
    """All regions permuted at once, where several are; single gains do not add up."""
    parts: dict[int, tuple[Region, Permutation]] = {}
    for item in chosen:
        if item.trial is not None and not item.trial.split:
            region, permutation = item.trial.parts[0]
            if permutation.stride > 1:
                parts.setdefault(region.storage, (region, permutation))
    if len(parts) < 2:
        return None
    trial = workshop.attempt(list(parts.values()))
    return trial if trial.proved else None


def proxies(workshop: Workshop, chosen: list[Chosen]) -> list[Trial]:
    """Proxies of the loads that have lanes, and no variant."""
    found = []
    for item in chosen:
        site = item.site
        walked = site["step"] not in (None, 0, 1) and len(site["storages"]) == 1
        if item.trial is not None or site["kind"] != "load" or not walked or not site["counts"]["requests"]:
            continue
        try:
            region = region_of(workshop.subject.launch, site["storages"][0], site["element_bytes"])
        except Refusal:
            continue
        item.proxy = workshop.attempt_proxy(site, region)
        if item.proxy.reason is None:
            found.append(item.proxy)
    return found


def unique_trials(chosen: list[Chosen], together: Trial | None) -> list[Trial]:
    found: list[Trial] = []
    for trial in [t for item in chosen for t in (item.trial, item.padded)] + [together]:
        if trial is not None and not any(trial is other for other in found):
            found.append(trial)
    return found


# results


def verdict_of(trial: Trial | None, gpu: dict[str, Any] | None, reason: str | None) -> tuple[str, str | None]:
    if trial is None:
        return f"refused: {reason}", reason
    if gpu is None:
        return "predicted only", "no GPU"
    if trial.measured is None or "refused" in trial.measured:
        why = (trial.measured or {}).get("refused", "it was not measured")
        return f"refused: {why}", why
    return ("measured (split copy)" if trial.split else "measured (permuted)"), None


def counts(sites: list[Site]) -> dict[str, float]:
    return {
        "sectors": round(sum(s["counts"]["sectors"] for s in sites)),
        "requests": round(sum(s["counts"]["requests"] for s in sites)),
    }


def empty(launch: dict[str, Any], place: Any, op: str, pointer: str) -> dict[str, Any]:
    return {
        "path": show_path(place[0]), "line": place[1], "column": place[2], "kernel": launch["kernel"],
        "op": op,
        "pointer": pointer, "verdict": "", "reason": None, "stride": None, "extent": None, "predicted": None,
        "counters": None, "measured": None, "addresses_proved": False, "outputs_equal": None,
        "permute_us": None,
        "pays_after_launches": None, "grid": launch["grid"], "together": False, "padded": None,
        "split_copy": False,
        "proxy": None,
    }  # fmt: skip


def show_path(path: str) -> str:
    """Relative to the current folder where that is shorter."""
    relative = os.path.relpath(path)
    return relative if not relative.startswith(".." + os.sep + "..") else path


def refused(
    launch: dict[str, Any], known: dict[Any, Known], closure: dict[str, Any], reason: str
) -> dict[str, Any]:
    """The one result of a launch that cannot be looked into."""
    entry = closure["functions"][closure["entry"]]
    first = next((place for place, k in known.items() if k.codes), None)
    access = known[first] if first is not None else None
    place = first or (entry["path"], entry["line"], entry["column"])
    found = empty(launch, place, access.op if access else "", access.pointer if access else "")
    found.update(verdict=f"refused: {reason}", reason=reason)
    return found


def pointer_of(subject: Subject, item: Chosen) -> str:
    known = item.known.pointer if item.known is not None else ""
    if item.region is None or known in item.region.parameters:
        return known
    return item.region.parameters[0]


def result(subject: Subject, item: Chosen, gpu: dict[str, Any] | None) -> dict[str, Any]:
    site = item.site
    op = item.known.op if item.known else site["kind"]
    found = empty(subject.launch, site["places"][0], op, pointer_of(subject, item))
    found["source"] = source_line(subject, site["places"][0])
    found["verdict"], found["reason"] = verdict_of(item.trial, gpu, item.reason)
    found["stride"] = item.stride if item.stride is not None else site["step"]
    trial = item.trial
    after = trial.site_after(site) if trial is not None else None
    found["predicted"] = {"before": counts([site]), "after": counts([after]) if after else None}
    if trial is None:
        bound = (item.proxy.measured or {}).get("measured") if item.proxy is not None else None
        if bound is not None:
            found["verdict"], found["proxy"] = "proxy bound", bound
        elif item.proxy is not None and item.proxy.reason is not None:
            found["note"] = f"no proxy bound either: {item.proxy.reason}"
        return found
    found["extent"] = trial.parts[0][1].extent
    fill(found, subject, trial)
    if item.padded is not None:
        inner = item.padded.site_after(site)
        found["padded"] = {
            "pitch": item.padded.parts[0][1].pitch,
            "predicted": counts([inner]) if inner else None,
            "measured": (item.padded.measured or {}).get("measured"),
        }
    return found


def source_line(subject: Subject, place: Any) -> str | None:
    """The line of the access as it was when it was captured."""
    lines = subject.closure["files"].get(place[0], "").split("\n")
    return lines[place[1] - 1].strip() if place[1] <= len(lines) else None


def fill(found: dict[str, Any], subject: Subject, trial: Trial) -> None:
    """What a trial's proof and its measurement say."""
    found["split_copy"] = trial.split
    found["addresses_proved"] = bool(trial.proof.get("proved"))
    found["outputs_equal"] = trial.proof.get("outputs_equal")
    found["programs_proved"] = [trial.proof.get("programs"), trial.proof.get("grid")]
    before, after = counts(subject.sites), counts(trial.proof["sites"])
    found["predicted"]["kernel"] = {"before": before, "after": after}
    if trial.measured is not None:
        for key in ("measured", "counters", "permute_us", "pays_after_launches", "resources", "note"):
            found[key] = trial.measured.get(key)
        if trial.measured.get("outputs_equal") is not None:
            found["outputs_equal"] = trial.measured["outputs_equal"]


def together_result(
    subject: Subject, chosen: list[Chosen], trial: Trial, gpu: dict[str, Any] | None
) -> dict[str, Any]:
    """The variant in which all flagged tensors are permuted at once."""
    items = [c for c in chosen if c.trial is not None and not c.trial.split and (c.stride or 0) > 1]
    found = empty(subject.launch, items[0].site["places"][0], "together", "")
    names = dict.fromkeys(pointer_of(subject, c) for c in items)
    found["pointer"] = ", ".join(names)
    found["together"] = True
    found["lines"] = sorted({c.site["places"][0][1] for c in items})
    found["verdict"], found["reason"] = verdict_of(trial, gpu, None)
    afters = [a for c in items if (a := trial.site_after(c.site)) is not None]
    found["predicted"] = {"before": counts([c.site for c in items]), "after": counts(afters)}
    fill(found, subject, trial)
    return found
