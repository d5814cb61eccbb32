"""From what the interpreter saw to ``Access`` records: root pointer, offset, verdict and their texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from coalesce_lint.access import Access, Axis, Hint, Part, Place, Site
from coalesce_lint.index import verdict as verdicts
from coalesce_lint.index.carried import Resolver
from coalesce_lint.index.conditions import facts_of
from coalesce_lint.index.nodes import Node
from coalesce_lint.index.normalize import Normalizer, truth
from coalesce_lint.index.poly import ZERO, Atom, Poly, TooLarge
from coalesce_lint.index.render import Renderer
from coalesce_lint.kernels import boxes
from coalesce_lint.kernels.hints import HintReader
from coalesce_lint.kernels.interpret import Interpreter
from coalesce_lint.kernels.record import RawSite
from coalesce_lint.kernels.roots import Roots
from coalesce_lint.kernels.summands import summands_of
from coalesce_lint.kernels.uneven import Uneven
from coalesce_lint.kernels.usage import Usage
from coalesce_lint.reasons import Reason, Why


class Finisher:
    """Judges the accesses of one kernel after it was read."""

    def __init__(self, it: Interpreter) -> None:
        self.it = it
        self.n = Normalizer()
        self.resolve = Resolver(self.n)
        self.usage = Usage(it.build.nodes)
        self.render = Renderer(self.n.algebra)
        self._roots = Roots(self.n.algebra, self.usage, self.render)
        self._guards: dict[int, Poly] = {}
        self._uneven = Uneven(it.build.nodes)
        self._bases: dict[Poly, int] = {}
        self._divisors = boxes.promised_divisors(it.assumed)
        self._promised = self._promises()

    def accesses(self, dead: bool = False) -> Iterator[Access]:
        """Every access, once for each distinct verdict at its place. ``dead``: those in branches of helpers
        that this kernel does not take.
        """
        seen = set()
        for site in self.it.dead_sites if dead else self.it.sites:
            access = self._access(site)
            key = (access.place.path, access.place.line, access.place.column, access.op, access.pattern,
                   access.lane_axis, access.lane_stride, access.condition, *access.notes)  # fmt: skip
            if key not in seen:
                seen.add(key)
                yield access

    def hints(self) -> Iterator[Hint]:
        """The kernel's hints to the compiler, each with its verdict."""
        reader = HintReader(self.n, self.resolve, self.render, self._divisors)
        return reader.hints(self.it.build.nodes)

    def sizes(self) -> frozenset[str]:
        """The runtime parameters of the kernel that are sizes."""
        used = {a.attr for n in self.it.build.nodes for a in n.args if a.op == "param"}
        return frozenset(p.name for p in used if not p.constexpr and self.usage.is_size(p))

    # -- one access ------------------------------------------------------------------------------------------

    def _access(self, site: RawSite) -> Access:
        self.n.algebra.refuel()
        try:
            return self._judged(site)
        except (TooLarge, RecursionError):
            return self._unknown(site, Reason.TOO_LARGE.why)

    def _judged(self, site: RawSite) -> Access:
        node = site.address
        address = self.resolve(self.n(node))
        facts = dict(self._promised)
        facts.update(facts_of(self.n, [(self._truth(c), holds) for c, holds in site.guards]))
        if facts:
            address = self.n.algebra.rebuild(address, facts)

        def holds(condition: Node) -> bool | None:
            value = self.n.algebra.rebuild(self._truth(condition), facts).constant
            return None if value is None else bool(value)

        shape = self._uneven.shape(node, holds)
        names: list[str] = []
        offsets: set[Poly] = set()
        worst: verdicts.Verdict | None = None
        extents = self._extents(shape)
        context = verdicts.Context(self.n, extents, self._is_size, self.render.text)
        descriptor = site.options.get("descriptor")
        roots, lanewise = self._roots.of(node, address)
        for name, offset in roots:
            if name not in names:
                names.append(name)
            offsets.add(offset)
            if descriptor is not None and descriptor.strides:
                last = len(shape or ()) - 1
                v = verdicts.judge_descriptor(
                    context, offset, last, self.resolve(self.n(descriptor.strides[-1]))
                )
            else:
                v = verdicts.judge(context, offset)
            if shape is None and v.pattern not in ("unknown", "gather"):
                v = verdicts.Verdict("unknown", reason=_shape_reason(offset), offset=offset)
            if worst is None or verdicts.RANK[v.pattern] < verdicts.RANK[worst.pattern]:
                worst = v
        assert worst is not None
        if lanewise:
            worst = verdicts.chosen_by_lanes(context, worst, lanewise)
        elif (len(offsets) > 1 or self._uneven.reaches(node, holds)) and "branch" not in worst.notes:
            worst.notes.append("branch")
        return self._record(site, "|".join(names), worst, shape)

    def _truth(self, cond: Node) -> Poly:
        known = self._guards.get(id(cond))
        if known is None:
            try:
                known = self.resolve(truth(self.n, cond))
            except (TooLarge, RecursionError):
                known = ZERO + Poly({(): 1})
            self._guards[id(cond)] = known
        return known

    def _promises(self) -> dict[Atom, Poly]:
        """Parameters that an assume or assert holds to be 1 (others do not change a verdict)."""
        conditions = []
        for cond in self.it.assumed:
            try:
                conditions.append((truth(self.n, cond), True))
            except (TooLarge, RecursionError):
                continue
        facts = facts_of(self.n, conditions)
        return {a: p for a, p in facts.items() if a.kind == "param" and p.constant == 1}

    def _extents(self, shape: tuple[Any, ...] | None) -> dict[int, Poly]:
        out = {}
        for k, d in enumerate(shape or ()):
            extent = self.resolve(self.n.extent(d))
            if extent.constant != 1:
                out[k] = extent
        return out

    # -- the record ------------------------------------------------------------------------------------------

    def _record(
        self, site: RawSite, pointer: str, v: verdicts.Verdict, extents: tuple[Any, ...] | None
    ) -> Access:
        offset = v.offset if v.offset is not None else ZERO
        text = self.render.text
        shape = [self.resolve(self.n.extent(d)) for d in extents or ()]
        notes = list(v.notes)
        if site.chain:
            notes.append("via helper")
        condition = None
        if v.condition is not None:
            condition = f"{self.render.name(v.condition)} == 1"
        owner = text(v.owner) if v.owner is not None else None
        inner = site.loops[-1] if site.loops else None
        reused = inner is not None and not any(inner in a.loops for a in offset.atoms())
        return Access(
            place=site.place,
            op=site.op,
            pointer=pointer,
            offset=lambda: text(offset),  # type: ignore[arg-type]
            pattern=v.pattern,
            lane_axis=v.lane_axis,
            lane_stride=text(v.stride) if v.stride is not None else None,
            condition=condition,
            axes=lambda: self._axes(shape, v),  # type: ignore[arg-type]
            notes=notes,
            reason=v.reason or (f"{owner} owns the unit stride" if owner else None),
            kernel=self.it.kernel.name,
            call_chain=list(site.chain),
            source=lambda: self._source(site.place),  # type: ignore[arg-type]
            lane_term=lambda: self._lane_term(offset, v.lane_axis),  # type: ignore[arg-type]
            loop_depth=len(site.loops),
            reused=reused,
            scalar_owner=owner,
            extents=tuple(p.constant for p in shape),
            start=offset.terms.get((), 0),
            part=self._part(v.way or offset, v),
            summands=lambda: summands_of(self.n.algebra, offset),  # type: ignore[arg-type]
            box=boxes.box_of(self.n, self.resolve, self.render, site, self._divisors),
            site=Site(
                site.address, site.mask, site.value, site.guards, len(site.loops), site.loops, site.options
            ),
        )

    def _is_size(self, atom: Atom) -> bool:
        return self.usage.is_size(atom.attr)

    def _part(self, offset: Poly, v: verdicts.Verdict) -> Part | None:
        """The lane stride in units of one element or of one stride argument."""
        one = v.stride.single() if v.stride is not None else None
        if one is None:
            return None
        unit, step = one
        if unit and verdicts.stride_argument(self._is_size, Poly({unit: 1})) is None:
            return None
        rest = Poly({m: c for m, c in offset.terms.items() if m != unit})
        family = self._bases.setdefault(rest, len(self._bases))
        name = self.render.name(unit[0]) if unit else ""
        return Part(abs(step), name, family, offset.terms.get(unit, 0))

    def _axes(self, shape: list[Poly], v: verdicts.Verdict) -> list[Axis]:
        axes = []
        for k, extent in enumerate(shape):
            steps = v.strides.get(k)
            stride: str | None = None
            if extent.constant == 1 or (steps is not None and steps.kind == "none"):
                stride = "0"
            elif steps is not None and steps.kind == "regular" and (k == v.lane_axis or not steps.choppy):
                stride = self.render.text(steps.stride)
            axes.append(Axis(k, self.render.text(extent), stride))
        return axes

    def _lane_term(self, offset: Poly, axis: int | None) -> str | None:
        """The part of the offset that varies along the lane axis."""
        if axis is None:
            return None
        return self.render.text(
            Poly({m: c for m, c in offset.terms.items() if any(axis in a.lanes for a in m)})
        )

    def _unknown(self, site: RawSite, reason: Why) -> Access:
        verdict = verdicts.Verdict("unknown", reason=reason)
        return self._record(site, "?", verdict, site.address.shape)

    def _source(self, place: Place) -> str:
        module = self.it.sources.get(place.path)
        if module is None or not place.end_line:
            return ""
        lines = module.lines[place.line - 1 : place.end_line]
        if not lines:
            return ""
        lines[-1] = lines[-1][: place.end_column]
        lines[0] = lines[0][place.column :]
        return " ".join(" ".join(x.strip() for x in lines).split())


def _shape_reason(offset: Poly) -> Why:
    """Why the shape of an address is not known: the first value in it that is not understood."""
    return next((a.reason for a in offset.atoms() if a.reason and a.lanes), Reason.SHAPE.why)
