"""Variants of one launch: built, compiled without a GPU, and proved on the CPU."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field
from typing import Any

from coalesce_lint.verify.plan import Region, permuted_launch, target
from coalesce_lint.verify.session import COMPILE, PROVE, Session
from coalesce_lint.verify.variant.build import Builder, Variant
from coalesce_lint.verify.variant.follow import Follower
from coalesce_lint.verify.variant.forms import Refusal
from coalesce_lint.verify.variant.permutation import Permutation
from coalesce_lint.verify.variant.proxy import ProxyBuilder

#: Seconds that a proof may go on with further programs once the chosen ones are proved; a GPU then runs the
#: whole grid.
PROOF_SECONDS = 5.0
PROOF_SECONDS_GPU = 0.5


@dataclass
class Subject:
    """A captured launch with what the compiler and the interpreter say of it."""

    launch: dict[str, Any]
    closure: dict[str, Any]
    compiled: dict[str, Any]
    examined: dict[str, Any]

    @property
    def sites(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.examined["sites"]
        return found


@dataclass
class Trial:
    """One variant: ``parts`` are the regions with their permutations. ``reason`` says why it is refused."""

    parts: list[tuple[Region, Permutation]]
    places: frozenset[tuple[str, int, int]] | None = None
    variant: Variant | None = None
    launch: dict[str, Any] = field(default_factory=dict)
    compiled: dict[str, Any] = field(default_factory=dict)
    proof: dict[str, Any] = field(default_factory=dict)
    reason: str | None = None
    measured: dict[str, Any] | None = None
    best: dict[str, Any] | None = None  #: best against best, where an autotuner chose the configuration
    proxy: bool = False

    @property
    def split(self) -> bool:
        return self.places is not None

    @property
    def proved(self) -> bool:
        return self.reason is None and bool(self.proof.get("outputs_equal"))

    def sectors(self, kind: str | None = None) -> float:
        return sum(s["counts"]["sectors"] for s in self.proof["sites"] if kind in (None, s["kind"]))

    def site_after(self, site: dict[str, Any]) -> dict[str, Any] | None:
        """The variant's site that stands for a site of the original."""
        for before, after in self.proof["pairs"]:
            if before == site["places"]:
                for found in self.proof["sites"]:
                    if found["places"] == after and found["kind"] == site["kind"]:
                        return dict(found)
        return None


class Workshop:
    """Makes trials of one subject."""

    def __init__(self, session: Session, subject: Subject, arch: int, gpu: bool = False) -> None:
        self.seconds = PROOF_SECONDS_GPU if gpu else PROOF_SECONDS
        self.session = session
        self.subject = subject
        self.arch = arch
        self.programs = session.settings.programs
        self.numbers = itertools.count(1)

    def under(self, subject: Subject, programs: int, seconds: float) -> Workshop:
        """A workshop for the same kernel under another configuration."""
        other = Workshop(self.session, subject, self.arch)
        other.programs, other.seconds, other.numbers = programs, seconds, self.numbers
        return other

    def task(self, launch: dict[str, Any]) -> dict[str, Any]:
        folder = self.session.folder
        return {
            "path": str(folder / launch["closure"]), "kernel": launch["kernel"], "arch": self.arch,
            "launch": launch,
            "folder": str(folder), "programs": self.programs,
        }  # fmt: skip

    def attempt(
        self, parts: list[tuple[Region, Permutation]], places: frozenset[tuple[str, int, int]] | None = None
    ) -> Trial:
        """Builds, compiles and proves one variant; what goes wrong is the trial's ``reason``."""
        trial, ambiguous = self._attempt(parts, places, folded=False)
        if not trial.proved and ambiguous:
            second, _ = self._attempt(parts, places, folded=True)
            if second.proved:
                return second
        return trial

    def _attempt(
        self,
        parts: list[tuple[Region, Permutation]],
        places: frozenset[tuple[str, int, int]] | None,
        folded: bool,
    ) -> tuple[Trial, bool]:
        trial = Trial(parts, places)
        ambiguous = False
        try:
            ambiguous = self._build(trial, folded)
            self._compile(trial)
            self._prove(trial)
        except Refusal as refusal:
            trial.reason = str(refusal)
        return trial, ambiguous

    def _build(self, trial: Trial, folded: bool) -> bool:
        """Writes the variant; True where a step could be meant in two ways."""
        subject = self.subject
        follower = Follower(subject.closure, subject.launch["arguments"])
        name = f"{subject.launch['kernel']}_variant{next(self.numbers)}"
        targets = [target(region, permutation, trial.places) for region, permutation in trial.parts]
        builder = Builder(follower, targets, name, folded)
        variant = builder.build()
        self._write(trial, variant)
        return builder.ambiguous

    def _write(self, trial: Trial, variant: Variant) -> None:
        name = variant.name
        trial.variant = variant
        folder = self.session.folder
        subject = self.subject
        path = str(folder / f"{name}_{subject.launch['closure'].split('.')[0].replace('-', '_')}.py")
        (folder / path).write_text(variant.source)
        closure = variant.closure
        closure["files"] = {**closure["files"], path: variant.source}
        for function in closure["functions"]:
            if function["path"] is None:
                function["path"] = path
                function.pop("file_text", None)
        file = f"{name}-{subject.launch['closure']}"
        (folder / file).write_text(json.dumps(closure))
        trial.launch = permuted_launch(subject.launch, variant, trial.parts, file)

    def attempt_proxy(self, site: dict[str, Any], region: Region) -> Trial:
        """The proxy of one access, checked to stay within the tensor; its values are wrong by design."""
        trial = Trial([], None, proxy=True)
        try:
            operation = next((o for o in site["operations_full"] if o["layout"] is not None), None)
            if operation is None or len(region.parameters) != 1:
                raise Refusal("no proxy: the tile's layout is not known")
            axis = next((k for basis in operation["layout"][1] for k, step in enumerate(basis) if step), 0)
            name = f"{self.subject.launch['kernel']}_proxy{next(self.numbers)}"
            follower = Follower(self.subject.closure, self.subject.launch["arguments"])
            place = (site["places"][0][0], site["places"][0][1], site["places"][0][2])
            builder = ProxyBuilder(follower, name, place, tuple(operation["shape"]), axis, region.length)
            variant = builder.proxy()
            self._write(trial, variant)
            self._compile(trial)
            more = {
                "operations": trial.compiled["operations"],
                "num_warps_compiled": trial.compiled["num_warps"],
            }
            answer = self.session.ask(PROVE, {**self.task(trial.launch), **more, "mode": "examine"})
            if "error" in answer:
                raise Refusal(f"no proxy: {answer['error']}")
            trial.proof = answer
        except Refusal as refusal:
            trial.reason = str(refusal)
        return trial

    def _compile(self, trial: Trial) -> None:
        answer = self.session.ask(COMPILE, self.task(trial.launch))
        if "error" in answer:
            raise Refusal(f"the variant does not compile: {answer['error']}")
        trial.compiled = answer

    def _prove(self, trial: Trial) -> None:
        sides = [
            {
                **self.task(launch),
                "operations": compiled["operations"],
                "num_warps_compiled": compiled["num_warps"],
            }
            for launch, compiled in (
                (self.subject.launch, self.subject.compiled),
                (trial.launch, trial.compiled),
            )
        ]
        answer = self.session.ask(
            PROVE,
            {
                "mode": "prove",
                "original": sides[0],
                "variant": sides[1],
                "programs": self.programs,
                "seconds": self.seconds,
            },
        )
        trial.proof = answer
        if answer.get("kind") == "OriginalOutOfBounds":
            raise Refusal(f"out of bounds: {answer['error'].removeprefix('OriginalOutOfBounds: ')}")
        if answer.get("kind") == "OutOfBounds":
            raise Refusal("failed proof: the variant would leave the tensor")
        if "error" in answer:
            raise Refusal(f"the proof could not be made: {answer['error']}")
        if "failed" in answer:
            raise Refusal(f"failed proof: {answer['failed']}")
        if not answer["outputs_equal"]:
            raise Refusal(f"failed proof: outputs differ ({answer['differing']})")
