"""Which accesses of a launch are verified, and the variant that is tried for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from coalesce_lint.verify.flagged import Known, place_key
from coalesce_lint.verify.plan import Region, permutations, region_of, stride_of
from coalesce_lint.verify.session import Session
from coalesce_lint.verify.trial import Subject, Trial, Workshop
from coalesce_lint.verify.variant.forms import Refusal
from coalesce_lint.verify.variant.permutation import Permutation

Site = dict[str, Any]

#: Why accesses through descriptors are refused.
NOT_APPLICABLE = "not applicable: TMA has no lane sectors"


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
                item.reason = NOT_APPLICABLE
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


def unique_trials(chosen: list[Chosen], together: Trial | None, padded: bool = True) -> list[Trial]:
    found: list[Trial] = []
    for trial in [t for item in chosen for t in (item.trial, item.padded if padded else None)] + [together]:
        if trial is not None and not any(trial is other for other in found):
            found.append(trial)
    return found
