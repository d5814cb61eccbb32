"""What came of each access, as plain dicts: the keys of the ``--json`` contract (README, "Verify")."""

from __future__ import annotations

import os
from typing import Any

from coalesce_lint.verify.choosing import NOT_APPLICABLE, Chosen, Site
from coalesce_lint.verify.flagged import Known
from coalesce_lint.verify.trial import Subject, Trial


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
        "proxy": None, "best": None,
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
    if item.reason != NOT_APPLICABLE:
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
    found["best"] = trial.best
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
