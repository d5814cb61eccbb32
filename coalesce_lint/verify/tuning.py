"""Best against best for kernels that an autotuner launches: variants under every configuration.

A variant's source depends on the configuration where its coefficients are block sizes, so it is built anew
under each, for the same permuted memory, and proved there. On a GPU both kernels are then timed under every
configuration (``best.py``), and the best of the original against the best of the variant.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coalesce_lint.verify.best import FAILED
from coalesce_lint.verify.configurations import configured, describe_configuration
from coalesce_lint.verify.session import COMPILE, MEASURE
from coalesce_lint.verify.trial import Subject, Trial, Workshop

if TYPE_CHECKING:
    from coalesce_lint.verify.session import Session

#: Configurations that are tried, and seconds after which no more is begun for one launch.
TRIED = 12
SECONDS = 30.0
#: Programs that are looked at under each but the chosen one, and seconds that further ones may take.
PROGRAMS = 8
PROOF_SECONDS = 0.2


@dataclass
class Setting:
    """One configuration: the captured launch under it, compiled, or the ``reason`` why it is left out."""

    entry: dict[str, Any]
    workshop: Workshop | None = None
    reason: str | None = None


class Tuner:
    """Tries one launch's variants under the configurations that its autotuner chose from."""

    def __init__(self, session: Session, workshop: Workshop) -> None:
        self.session = session
        self.workshop = workshop
        self.begun = time.monotonic()
        entries = workshop.subject.launch.get("configurations") or []
        self.settings = [Setting(entry, reason=entry["reason"]) for entry in entries]
        self.compiled = self.timed = False

    def late(self) -> str | None:
        if time.monotonic() - self.begun < SECONDS:
            return None
        return f"not tried, {SECONDS:g} s were up"

    def compile(self) -> None:
        """Compiles the original under each configuration."""
        self.compiled = True
        subject = self.workshop.subject
        for number, setting in enumerate(self.settings):
            if setting.reason is None and number >= TRIED:
                setting.reason = f"not tried, {TRIED} are"
            setting.reason = setting.reason or self.late()
            if setting.reason is not None:
                continue
            if setting.entry["chosen"]:
                setting.workshop = self.workshop
                continue
            self.say("compiling", number)
            launch = configured(subject.launch, setting.entry)
            answer = self.session.ask(COMPILE, self.workshop.task(launch))
            if "error" in answer:
                setting.reason = f"it does not compile: {answer['error']}"
            else:
                setting.workshop = self.workshop.under(
                    Subject(launch, subject.closure, answer, subject.examined), PROGRAMS, PROOF_SECONDS
                )

    def say(self, what: str, number: int) -> None:
        kernel = self.workshop.subject.launch["kernel"]
        self.session.progress.say(f"{kernel}: {what} under other configurations", number, len(self.settings))

    def tune(self, trial: Trial, gpu: bool) -> None:
        """Fills the trial's ``best``; leaves it None where there is nothing to choose from."""
        if len(self.settings) < 2:
            return
        if not self.compiled:
            self.compile()
        variants = [self.variant(trial, number) for number in range(len(self.settings))]
        trial.best = {
            "configurations": [
                self.row(setting, variant) for setting, variant in zip(self.settings, variants, strict=True)
            ],
            "before": None,
            "after": None,
            "measured": None,
            "reason": None if gpu else "no GPU",
        }
        if gpu:
            trial.best["reason"] = self.late() if self.timed else None
            if trial.best["reason"] is None:
                self.measure(trial.best, variants)

    def variant(self, trial: Trial, number: int) -> Trial | None:
        """The trial's variant under one configuration; None where the original is left out."""
        setting = self.settings[number]
        if setting.workshop is None:
            return None
        if setting.entry["chosen"]:
            return trial
        late = self.late()
        if late is not None:
            return Trial(trial.parts, trial.places, reason=late)
        self.say("rewriting and proving", number)
        found = setting.workshop.attempt(trial.parts, trial.places)
        if found.proof.get("kind") == "OriginalOutOfBounds":
            setting.reason, setting.workshop = found.reason, None
            return None
        return found

    def row(self, setting: Setting, variant: Trial | None) -> dict[str, Any]:
        """What is told of one configuration. Times in microseconds, sectors over the grid."""
        entry = setting.entry
        proved = variant is not None and variant.proved
        before = after = None
        if proved and variant is not None:
            before = round(sum(s["counts"]["sectors"] for s in variant.proof["original_sites"]))
            after = round(variant.sectors())
        return {
            **{key: entry[key] for key in ("kwargs", "num_warps", "num_stages", "chosen")},
            "name": describe_configuration(entry),
            "grid": entry.get("grid"),
            "predicted_sectors": {"before": before, "after": after},
            "proved": proved,
            "before_us": None,
            "after_us": None,
            "reason": setting.reason,
            "variant_reason": None if proved or variant is None else variant.reason or "failed proof",
        }

    def measure(self, best: dict[str, Any], variants: list[Trial | None]) -> None:
        """Times both sides under every configuration, and the two best against each other."""
        rows = best["configurations"]
        tasks = []
        for setting, variant in zip(self.settings, variants, strict=True):
            own, proved = setting.workshop, variant is not None and variant.proved
            tasks.append(
                {
                    "before": own.task(own.subject.launch) if own is not None else None,
                    "after": self.workshop.task(variant.launch) if proved and variant is not None else None,
                }
            )
        kernel = self.workshop.subject.launch["kernel"]
        self.session.progress.say(f"{kernel}: timing best against best")
        self.timed = True
        task = {"mode": "best", "folder": str(self.session.folder), "entries": tasks,
                "written": self.workshop.subject.examined["written"]}  # fmt: skip
        answer = self.session.ask(MEASURE, task)
        if "error" in answer or any(reason.startswith(FAILED) for *_, reason in answer.get("reasons", [])):
            self.session.end(MEASURE)  # what failed may have left the device unusable to that process
        for side, number, reason in answer.get("reasons", []):
            rows[number]["reason" if side == "before" else "variant_reason"] = reason
        if "error" in answer or "refused" in answer:
            best["reason"] = answer.get("refused") or f"{FAILED}: {answer['error']}"
            return
        for side, number, microseconds in answer["times"]:
            rows[number][f"{side}_us"] = microseconds
        best["measured"] = answer["compared"]
        for side in ("before", "after"):
            row = rows[answer["best"][side]]
            best[side] = {key: row[key] for key in ("kwargs", "num_warps", "num_stages", "name")}
