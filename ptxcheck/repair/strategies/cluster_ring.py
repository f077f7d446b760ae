"""Let a CTA that copies into the rings of other CTAs wait until they are there, and have room.

Property: where copies of one CTA complete at mbarriers of another one, the copier starts behind the initialisation of
those mbarriers, and waits in its own ring also for releases of the other CTA.
Argument: whoever reads the slots of a copy arrives, in its own CTA, at mbarriers at the same offsets as those that the
copier waits for in its own. It arrives at the copier's as well, whose count is raised by so many arrivals. All threads
arrive at the barrier of the cluster where they meet behind the initialisation. The gate decides, here as elsewhere.

What is chosen is what costs least time on an H100 (`benchmarks/history/hardware_repairs.md`): arrivals at the barrier
of the cluster that release nothing where `fence.mbarrier_init` publishes the initialisation, one arrival for each warp,
of the scope that reads need, and none for a phase that no wait asks for, as then nobody has to be there for it.

Not covered: mbarriers with other offsets in the other CTA; arrivals with counts or bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ...ir import Address, Immediate, Instruction, Register
from ...isa.modifier import Mod
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ...parser.show import show_operand
from ...protocols.model.actions import Action, Arrive, Barrier, Init, Strand, Transfer, Wait
from ...view import KernelView
from ..edits import Edit
from ..patch import Patch, Writer, combined
from ..sites import points_of, ways_out
from ..subject import Subject

_RULES = ("SM02", "MB02", "TX", "CL02")
_MOST_CTAS = 8
_WARP = 32
_ALL_LANES = (1 << _WARP) - 1
_COST = -1
"""In front of patches that change one place: each of these would be one of several that are missing."""
_SHARED = (Mod.SHARED, Mod.SHARED_CTA, Mod.SHARED_CLUSTER)
_SCOPES = ("", ".release.cluster")
"""Of arrivals at the copier: what orders reads, and what publishes writes, too."""


def complete_cluster_ring(subject: Subject) -> Iterator[Patch]:
    """Yield what is missing between a CTA that copies for others and those, all at once."""
    ctas = subject.view.launch.cluster_size
    if not subject.finding.rule.startswith(_RULES) or ctas is None or not 1 < ctas <= _MOST_CTAS:
        return
    strands = next((each.run.protocol.strands for each in subject.violations), ())
    readers = _readers(strands)
    if not readers:
        return
    view = subject.view
    meets = _meets_first(view, strands)
    start = [] if meets else _meeting(view, strands)
    if start is None:
        return
    ring = _Ring(view, strands, readers, ctas)
    for later, scope in enumerate(_SCOPES):
        released = ring.releases(scope)
        if not released and (later or not start):
            continue
        for ends in _ends(ring):
            edits = [*start, *released, *(ring.counts() if released else ()), *(_end(view) if ends else ())]
            parts = [
                *(["meet the other CTAs behind the initialisation"] if start else []),
                *(["arrive at the CTA that copies, too, and count it there"] if released else []),
                *(["meet them in front of the end"] if ends else []),
            ]
            cost = _COST + later + ends
            patch = combined("cluster ring", "; ".join(parts), cost, edits, needs_proof=True)
            yield replace(patch, is_whole=cost < 0)


def _ends(ring: _Ring) -> tuple[bool, ...]:
    """Return whether to meet in front of the end: only where an arrival may come when nobody waits for it."""
    if not ring.told_too_late:
        return (False,)
    return (False, True) if ring.meets_later else (True,)


def _meets_first(view: KernelView, strands: Sequence[Strand]) -> bool:
    """Tell whether the CTAs meet on every way to the copies for others."""
    copies = {
        a.point
        for s in strands
        for a in s.actions
        if isinstance(a, Transfer) and any(barrier.cta != s.cta for barrier, _ in a.completes)
    }
    waits = points_of(view, Op.BARRIER_CLUSTER_WAIT)
    return any(all(view.cfg.dominates(wait, copy) for copy in copies) for wait in waits)


def _readers(strands: Sequence[Strand]) -> Mapping[int, frozenset[int]]:
    """Return, for each CTA whose copies complete at mbarriers of others, those others."""
    found: dict[int, set[int]] = {}
    for strand in strands:
        for action in strand.actions:
            if isinstance(action, Transfer):
                others = {barrier.cta for barrier, _ in action.completes} - {strand.cta}
                if others:
                    found.setdefault(strand.cta, set()).update(others)
    return {cta: frozenset(others) for cta, others in found.items()}


def _meeting(view: KernelView, strands: Sequence[Strand]) -> list[Edit] | None:
    """Return the barrier of the cluster around that of the CTA behind all initialisations; None where there is none."""
    inits = {a.point for s in strands for a in s.actions if isinstance(a, Init)}
    uses = {a.point for s in strands for a in s.actions if isinstance(a, Arrive | Wait | Transfer)}
    for point in points_of(view, Op.BAR_SYNC):
        behind = not any(view.cfg.reaches(point, init) for init in inits)
        if behind and all(view.cfg.dominates(point, use) for use in uses):
            break
    else:
        return None
    fenced = bool(points_of(view, Op.FENCE_MBARRIER_INIT))
    aligned = ".aligned" if Trait.ALIGNED in view.body.instructions[point].operation.traits else ""
    writer = Writer(view)
    return [
        writer.before(point, f"barrier.cluster.arrive{'.relaxed' if fenced else ''}{aligned};"),
        writer.after(point, f"barrier.cluster.wait{aligned};"),
    ]


def _end(view: KernelView) -> list[Edit]:
    writer = Writer(view)
    steps = ("barrier.cluster.arrive;", "barrier.cluster.wait;")
    return [writer.before(point, *steps) for point in ways_out(view)]


@dataclass(frozen=True)
class _Ring:
    """The releases of a ring in the run of a violation."""

    view: KernelView
    strands: Sequence[Strand]
    readers: Mapping[int, frozenset[int]]
    """By the CTA that copies."""
    ctas: int

    @cached_property
    def awaited(self) -> Mapping[Barrier, int]:
        """For each mbarrier that a copier waits for in its own CTA: how many of its phases are asked for."""
        found: dict[Barrier, int] = {}
        for strand in self.strands:
            copies = [a for a in strand.actions if isinstance(a, Transfer) and a.completes]
            if strand.cta not in self.readers or not copies:
                continue
            full = {barrier for each in copies for barrier, _ in each.completes}
            waits: dict[Barrier, list[Wait]] = {}
            for action in strand.actions:
                if isinstance(action, Wait) and action.barrier not in full:
                    waits.setdefault(action.barrier, []).append(action)
            for barrier, own in waits.items():
                phases = len(own) - (own[0].parity == 1)
                found[barrier] = max(found.get(barrier, 0), phases)
        return found

    @cached_property
    def _missing(self) -> Mapping[tuple[int, int], frozenset[Barrier]]:
        """For each place where readers arrive in their CTA, and each copier: the copier's mbarriers that lack it.

        Left out are places at which all arrivals belong to phases that nobody asks for.
        """
        told = {(s.cta, a.barrier) for s in self.strands for a in s.actions if isinstance(a, Arrive)}
        found: dict[tuple[int, int], set[Barrier]] = {}
        for strand in self.strands:
            for action, phase in _arrivals(strand):
                for copier, others in self.readers.items():
                    barrier = Barrier(copier, action.barrier.offset)
                    if strand.cta not in others or (strand.cta, barrier) in told:
                        continue
                    if barrier in self.awaited and not self._is_late(action.point, phase, barrier):
                        found.setdefault((action.point, copier), set()).add(barrier)
        return {key: frozenset(barriers) for key, barriers in found.items()}

    @cached_property
    def told_too_late(self) -> bool:
        """Tell whether an arrival at a copier may belong to a phase that nobody asks for."""
        points = {point for point, _ in self._missing}
        return any(
            action.point in points
            and (self._turns(action.point) or self._is_late(action.point, phase, barrier))
            for strand in self.strands
            for action, phase in _arrivals(strand)
            for copier, others in self.readers.items()
            if strand.cta in others and (barrier := Barrier(copier, action.barrier.offset)) in self.awaited
        )

    @property
    def meets_later(self) -> bool:
        """Tell whether CTAs may meet behind such an arrival."""
        waits = points_of(self.view, Op.BARRIER_CLUSTER_WAIT)
        return any(self.view.cfg.reaches(point, wait) for point, _ in self._missing for wait in waits)

    def _is_late(self, point: int, phase: int, barrier: Barrier) -> bool:
        """Tell whether an arrival belongs to a phase that nobody asks for: in a loop, a run does not tell."""
        return not self._turns(point) and phase >= self.awaited[barrier]

    def _turns(self, point: int) -> bool:
        return bool(self.view.cfg.loops_around(self.view.cfg.graph.block_of[point]))

    def releases(self, scope: str) -> list[Edit]:
        """Return the arrivals at copiers behind each arrival of their readers, none where one cannot be written."""
        copiers: dict[int, list[int]] = {}
        for point, copier in sorted(self._missing):
            copiers.setdefault(point, []).append(copier)
        edits = []
        for point, targets in copiers.items():
            instruction = self.view.body.instructions[point]
            address = instruction.get("addr")
            plain = instruction.get("count") is None and instruction.get("tx_count") is None
            if not plain or not isinstance(address, Address) or not _is_shared(instruction):
                return []
            lines = self._arrival(point, address, targets, scope)
            edits.append(Writer(self.view).after(point, *lines))
        return edits if self.counts() else []

    def _arrival(self, point: int, address: Address, targets: Sequence[int], scope: str) -> list[str]:
        own, there, rank, lane = (f"%ptxcheck_{name}{point}" for name in ("own", "there", "rank", "lane"))
        tells, leads = (f"%ptxcheck_{name}{point}" for name in ("tells", "leads"))
        base = "0" if address.base is None else show_operand(address.base)
        lines = [
            "{",
            f".reg .pred {tells}, {leads};",
            f".reg .b32 {own}, {there}, {rank}, {lane};",
            f"mov.u32 {own}, {base};",
            *([f"add.u32 {own}, {own}, {address.offset};"] if address.offset else []),
            f"mov.u32 {rank}, %cluster_ctarank;",
        ]
        guard = self.view.body.instructions[point].guard
        condition = ""
        if self._by_warps(point):
            lines += ["bar.warp.sync -1;", f"mov.u32 {lane}, %laneid;", f"setp.eq.u32 {leads}, {lane}, 0;"]
            condition = leads
        elif guard is not None:
            condition = f"{'!' if guard.negated else ''}{guard.register.name}"
        combining, operand = (".and", f", {condition}") if condition else ("", "")
        for target in targets:
            others = self.readers[target]
            if len(others) == self.ctas - 1:
                lines.append(f"setp.ne{combining}.u32 {tells}, {rank}, {target}{operand};")
            else:
                mask = sum(1 << each for each in others)
                lines += [f"shr.u32 {lane}, {mask}, {rank};", f"and.b32 {lane}, {lane}, 1;"]
                lines.append(f"setp.ne{combining}.u32 {tells}, {lane}, 0{operand};")
            lines.append(f"@{tells} mapa.shared::cluster.u32 {there}, {own}, {target};")
            lines.append(f"@{tells} mbarrier.arrive{scope}.shared::cluster.b64 _, [{there}];")
        return [*lines, "}"]

    def _by_warps(self, point: int) -> bool:
        """Tell whether whole warps come to a place together: one lane of each may arrive for it."""
        if self.view.body.instructions[point].guard is not None:
            return False
        return all(lanes == _ALL_LANES for lanes in self._lanes(point).values())

    def _lanes(self, point: int) -> Mapping[tuple[int, int], int]:
        """Return the lanes that arrive at a place, by CTA and warp."""
        found: dict[tuple[int, int], int] = {}
        for strand in self.strands:
            if any(a.point == point for a in strand.actions):
                found[strand.cta, strand.warp] = found.get((strand.cta, strand.warp), 0) | strand.lanes
        return found

    def _more(self, barrier: Barrier) -> int:
        """Return how many arrivals a phase of a copier's mbarrier gets from its readers."""
        places = {
            point
            for (point, copier), barriers in self._missing.items()
            if copier == barrier.cta and barrier in barriers
        }
        arriving: dict[tuple[int, int], int] = {}
        for point in places:
            for (cta, warp), lanes in self._lanes(point).items():
                if cta in self.readers[barrier.cta]:
                    own = 1 if self._by_warps(point) else lanes
                    arriving[cta, warp] = arriving.get((cta, warp), 0) | own
        return sum(lanes.bit_count() for lanes in arriving.values())

    def counts(self) -> list[Edit]:
        """Return the initialisations of copiers' mbarriers with all arrivals counted, none where one is not known."""
        barriers = {barrier for each in self._missing.values() for barrier in each}
        offsets = {barrier.offset for barrier in barriers}
        wanted: dict[int, dict[int, set[int]]] = {}
        for action in _actions(self.strands):
            if isinstance(action, Init) and action.barrier.offset in offsets:
                more = self._more(action.barrier) if action.barrier in barriers else 0
                by_cta = wanted.setdefault(action.point, {})
                by_cta.setdefault(action.barrier.cta, set()).add(action.count + more)
            elif isinstance(action, Init) and action.point in wanted:
                return []
        if any(len(each) != 1 for by_cta in wanted.values() for each in by_cta.values()):
            return []
        return [
            self._init(point, {cta: min(each) for cta, each in by_cta.items()})
            for point, by_cta in wanted.items()
        ]

    def _init(self, point: int, counts: Mapping[int, int]) -> Edit:
        """Return an initialisation with the count of each CTA."""
        writer = Writer(self.view)
        numbers = [counts.get(cta, 0) for cta in range(self.ctas)]
        usual = max(set(numbers), key=numbers.count)
        if set(numbers) == {usual}:
            return writer.with_operand(point, "count", Immediate(usual))
        rank, count, here = (f"%ptxcheck_{name}{point}" for name in ("rank", "count", "here"))
        declared = [
            f".reg .pred {here};",
            f".reg .b32 {rank}, {count};",
            f"mov.u32 {rank}, %cluster_ctarank;",
            f"mov.u32 {count}, {usual};",
        ]
        for cta, number in enumerate(numbers):
            if number != usual:
                declared.append(f"setp.eq.u32 {here}, {rank}, {cta};")
                declared.append(f"selp.b32 {count}, {number}, {count}, {here};")
        instruction = writer.with_operand(point, "count", Register(count)).replacement
        return writer.within(point, declared, instruction)


def _arrivals(strand: Strand) -> Iterator[tuple[Arrive, int]]:
    """Yield the arrivals of a strand in its own CTA, with how many it made at the same mbarrier before."""
    made: dict[Barrier, int] = {}
    for action in strand.actions:
        if isinstance(action, Arrive) and action.barrier.cta == strand.cta:
            yield action, made.get(action.barrier, 0)
            made[action.barrier] = made.get(action.barrier, 0) + 1


def _actions(strands: Sequence[Strand]) -> Iterator[Action]:
    for strand in strands:
        yield from strand.actions


def _is_shared(instruction: Instruction) -> bool:
    return any(map(instruction.operation.has, _SHARED))
