"""What is found of races and divergent barriers in one kernel, and what the verdicts on both are.

Property: `data-race` is proved where no pair of accesses of two threads can meet in a barrier interval; it is
violated where two runs with numbers, of two threads, have such a pair whatever is loaded. `barrier-divergence`
likewise for the barriers that two threads come to.

Argument: `pairs` asks about all runs; `witness` replays what it finds, and `data_witness` runs the block with data
where that shows nothing. What is found and cannot be replayed is unknown.

Not covered: mbarriers, clusters, counted barriers and asynchronous copies, which whole-kernel verification is about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from ...cfg import EdgeKind, Uniformity
from ...cfg.special import MAX_THREADS
from ...cfg.system_functions import SYSTEM_FUNCTIONS
from ...launch import Dim
from ...opcodes.op import Op
from ...opcodes.spec import Trait
from ...terms.bitvectors import variables_of
from ...terms.effort import Effort
from ...verdict import AssumptionSource, Need, Openness, Property, Reason, Verdict, VerdictKind
from ..order.axioms import ENDED_LANES, LANES_IN_STEP, SAME_VALUE
from ..symex.slice.endless_loops import ENDLESS, endless_loops
from .accesses import Accesses, Action, accesses_of
from .agreement import agreement
from .blocks import axes_used, bound_of, candidate_blocks, possible_blocks
from .collectives import open_collectives
from .data_witness import DataWitness, told_briefly
from .extents import STAYS_INSIDE, leaving
from .geometry import Geometry
from .gone_lanes import GoneLanes, gone_lanes
from .host_contracts import weakest
from .intervals import TooManyVisitsError, intervals_of
from .kernel import Kernel
from .layout import layout_of
from .left_rounds import AbsentSource, LeftRounds
from .meetings import Meetings, is_block_barrier
from .mirrored import two_threads
from .pairs import MOST_FOUND, Known, Pair, Pairs, Relation
from .ranks import Ranks
from .thread_terms import LOADED, ThreadTerms
from .witness import Divergence, Race, Witnesses

if TYPE_CHECKING:
    from ...view import KernelView


@dataclass
class Judgement:
    """What was found in one kernel."""

    races: list[Race] = field(default_factory=list)
    divergences: list[Divergence] = field(default_factory=list)
    absent: list[AbsentSource] = field(default_factory=list)
    gone: list[Reason] = field(default_factory=list)
    """What is taken of lanes that have ended when others come to what is for them, too."""
    in_step: list[Pair] = field(default_factory=list)
    """Pairs of lanes of one warp that only their running in step keeps apart."""
    same_value: list[Pair] = field(default_factory=list)
    """Stores of several threads by one instruction that are taken to be of one value."""
    left: list[Pair] = field(default_factory=list)
    """Pairs that may meet by what is passed or loaded."""
    with_some_data: list[Race] = field(default_factory=list)
    """Races that runs with some contents of global memory have, and others may not."""
    race_doubts: list[Reason] = field(default_factory=list)
    divergence_doubts: list[Reason] = field(default_factory=list)
    """Barriers that the order of accesses rests on, and that threads may not come to alike."""
    loop_doubts: list[Reason] = field(default_factory=list)
    """Loops that threads do not leave, so that they come to no barrier behind; no order rests on that."""
    lane_doubts: list[Reason] = field(default_factory=list)
    """The same of instructions of whole warps, which no order rests on."""
    provisos: list[Reason] = field(default_factory=list)
    taken_blocks: list[Reason] = field(default_factory=list)
    """Blocks that were tried, where nothing states one and not all were decided at once."""

    def note(self, found: _Found) -> None:
        """Take over what was found."""
        self.races += found.races
        self.divergences += found.divergences
        self.absent += found.absent
        self.gone += found.gone
        self.in_step += found.in_step
        self.provisos += [
            Reason(SAME_VALUE.text, pair.points[0], source=AssumptionSource.HARDWARE)
            for pair in found.same_value
        ]
        self.provisos += [
            Reason(STAYS_INSIDE, point, source=AssumptionSource.ENVIRONMENT) for point in found.leaving[:1]
        ]
        self.provisos += found.contract
        self.left += found.left
        self.with_some_data += found.with_some_data
        self.race_doubts += told_briefly(found.with_some_data)
        self.same_value += found.same_value
        self.race_doubts += [Reason(may_meet(pair), pair.points[1]) for pair in found.left]
        self.race_doubts += found.doubts
        self.divergence_doubts += found.parting
        self.lane_doubts += found.lanes

    def verdicts(self) -> tuple[Verdict, ...]:
        """Return a verdict for each of the two properties."""
        return self._races(), self._divergence()

    def _races(self) -> Verdict:
        if self.races:
            reasons = tuple(Reason(race.message, race.points[0]) for race in self.races)
            return Verdict(Property.DATA_RACE, VerdictKind.VIOLATED, reasons)
        if self.divergences:
            reason = Reason("threads come to different barriers", -1)
            return Verdict(Property.DATA_RACE, VerdictKind.UNKNOWN, (reason,), Openness.BEHIND_FAILURE)
        doubts = [*self.race_doubts]
        if self.divergence_doubts:
            doubts.append(Reason("threads may come to different barriers", -1))
        if doubts:
            return Verdict(Property.DATA_RACE, VerdictKind.UNKNOWN, tuple(dict.fromkeys(doubts)))
        taken = [*self.taken_blocks, *self.provisos]
        taken += [
            Reason(LANES_IN_STEP.text, pair.points[1], source=AssumptionSource.HARDWARE)
            for pair in self.in_step
        ]
        kind = VerdictKind.ASSUMES if taken else VerdictKind.PROVED
        return Verdict(Property.DATA_RACE, kind, tuple(dict.fromkeys(taken)))

    def _divergence(self) -> Verdict:
        which = Property.BARRIER_DIVERGENCE
        if self.divergences or self.absent:
            reasons = tuple(Reason(each.message, each.points[0]) for each in self.divergences)
            reasons += tuple(Reason(each.message, each.point) for each in self.absent)
            return Verdict(which, VerdictKind.VIOLATED, reasons)
        doubts = tuple(dict.fromkeys((*self.loop_doubts, *self.divergence_doubts, *self.lane_doubts)))
        if doubts:
            return Verdict(which, VerdictKind.UNKNOWN, doubts)
        taken = tuple(dict.fromkeys((*self.taken_blocks, *self.gone)))
        return Verdict(which, VerdictKind.ASSUMES if taken else VerdictKind.PROVED, taken)


_MEETS = frozenset({Trait.BARRIER, Trait.COLLECTIVE, Trait.ALIGNED})


def is_ordinary(view: KernelView) -> bool:
    """Tell whether a kernel has barriers, instructions of whole warps, or accesses of shared memory."""
    if any(not _MEETS.isdisjoint(each.operation.traits) for each in view.cfg.instructions):
        return True
    accesses = view.get(accesses_of)
    return bool(accesses.known or accesses.unknown) or any(
        call.synchronises or call.computes is False for call in view.facts.calls.values()
    )


def judged(view: KernelView) -> Judgement:
    """Return what is found in a kernel."""
    accesses = view.get(accesses_of)
    found = Judgement()
    unknown = "the bytes of shared memory that this accesses are not known"
    found.race_doubts += [Reason(unknown, point) for point in accesses.unknown]
    found.race_doubts += _unseen_accesses(view)
    ends = (view.cfg.blocks[loop.latches[0]].last for loop in endless_loops(view.facts))
    found.loop_doubts += [Reason(ENDLESS, point) for point in ends]
    unseen = [*unseen_control(view)]
    if unseen:
        found.race_doubts += unseen
        found.divergence_doubts += unseen
        return found
    _Judge(view, accesses).judge(found)
    return found


def _unseen_accesses(view: KernelView) -> Iterator[Reason]:
    """Yield calls of functions that may access shared memory."""
    for point, call in view.facts.calls.items():
        if call.synchronises is False and call.computes is not True:
            yield Reason(f"what `{call.callee}` does with shared memory is not followed", point)


def unseen_control(view: KernelView) -> Iterator[Reason]:
    """Yield control flow that is not followed: neither barriers nor accesses of all threads are seen then."""
    for point, call in view.facts.calls.items():
        if call.synchronises is not False and call.callee not in SYSTEM_FUNCTIONS:
            yield Reason(f"what `{call.callee or 'a pointer'}` does with barriers is not followed", point)
    for point, instruction in enumerate(view.cfg.instructions):
        if Trait.ANYTHING in instruction.operation.traits:
            yield Reason("this instruction is not known", point)
        elif instruction.operation.op is Op.BAR_RED and not is_block_barrier(instruction):
            yield Reason("a reduction at a barrier that not all threads count at is not followed", point)
    if view.cfg.irreducible:
        first = min(min(region) for region in view.cfg.irreducible)
        yield Reason("a jump into the middle of a loop is not followed", view.cfg.blocks[first].start)
    for edge in view.cfg.graph.edges:
        if edge.kind is EdgeKind.UNKNOWN:
            yield Reason("the target of this jump is not followed", view.cfg.blocks[edge.source].last)


@dataclass
class _Found:
    """What one block, or all of them, give."""

    races: list[Race] = field(default_factory=list)
    divergences: list[Divergence] = field(default_factory=list)
    absent: list[AbsentSource] = field(default_factory=list)
    gone: list[Reason] = field(default_factory=list)
    in_step: list[Pair] = field(default_factory=list)
    same_value: list[Pair] = field(default_factory=list)
    left: list[Pair] = field(default_factory=list)
    with_some_data: list[Race] = field(default_factory=list)
    contract: list[Reason] = field(default_factory=list)
    """What the host is to keep to, where only that keeps threads apart."""
    leaving: tuple[int, ...] = ()
    """Accesses that may be outside of their variables, where nothing else is wrong."""
    doubts: list[Reason] = field(default_factory=list)
    parting: list[Reason] = field(default_factory=list)
    lanes: list[Reason] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        found = (
            self.races, self.divergences, self.absent, self.left, self.with_some_data, self.doubts, self.parting,
            self.lanes,
        )  # fmt: skip
        return not any(found)


@dataclass
class _Asked:
    """What the solver says of all intervals."""

    pairs: list[Pair] = field(default_factory=list)
    in_step: list[Pair] = field(default_factory=list)
    doubts: list[Reason] = field(default_factory=list)


class _Judge:
    def __init__(self, view: KernelView, accesses: Accesses) -> None:
        self._view = view
        self._accesses = accesses.known
        self._effort = Effort(view.verify_seconds)
        launch = view.launch
        self._stated = launch.block if launch.block_is_exact else None
        self._need = Need.BLOCK_OR_TIME if self._stated is None else Need.TIME
        """What decides what the effort was not enough for."""

    def judge(self, judgement: Judgement) -> None:
        """Note what is found: in the block that is stated, in all blocks, or in those that the code suggests."""
        if self._stated is not None:
            judgement.note(self._in_block(self._stated))
            return
        view = self._view
        kernel = self._kernel(Geometry(None, axes_used(view), view.launch.max_threads or MAX_THREADS))
        agreed, open_ = agreement(kernel)
        if not open_ and not any(any(each) for each in _open_meetings(kernel, agreed)):
            found = self._pairs(kernel, agreed, all_of_them=False)
            if not (found.pairs or found.doubts):
                blocks = partial(candidate_blocks, view, kernel, self._accesses)
                absent, gone = self._gone(kernel, agreed, blocks)
                outside = leaving(kernel, self._accesses, agreed)
                judgement.note(_Found(in_step=found.in_step, absent=absent, gone=gone, leaving=outside))
                return
        candidates = possible_blocks(view, kernel, self._accesses, self._kernel_in)
        if not candidates:
            for doubts in (judgement.race_doubts, judgement.divergence_doubts):
                doubts.append(Reason(_OTHER_BLOCK, -1, Need.BLOCK))
            return
        each = [self._in_block(block) for block in candidates]
        judgement.note(_common(each))
        if all(found.is_clean for found in each):
            taken = _BOUND if candidates == (bound_of(view),) else _SUGGESTED
            written = ["x".join(map(str, block)) for block in candidates]
            options = tuple(f"block={each}" for each in written)
            text, launch = taken.format(" or ".join(written)), AssumptionSource.LAUNCH
            judgement.taken_blocks.append(Reason(text, -1, Need.BLOCK, options, launch))

    def _in_block(self, block: Dim) -> _Found:
        kernel, found = self._kernel_in(block), _Found()
        agreed, open_ = agreement(kernel)
        found.parting, found.lanes = _open_meetings(kernel, agreed)
        witnesses = Witnesses(self._view, kernel, self._accesses, block, agreed)
        for each in open_:
            divergence = witnesses.divergence(each)
            if divergence is not None:
                found.divergences.append(divergence)
            else:
                found.parting.append(Reason(_MAY_PART, each.point))
        found.absent, found.gone = self._gone(kernel, agreed, lambda: (block,))
        asked = self._pairs(kernel, agreed)
        told: set[frozenset[int]] = set()
        runs = DataWitness(self._view, self._accesses, block, witnesses, self._effort)
        if any(pair.is_scatter for pair in asked.pairs):
            ranks = Ranks(kernel, self._accesses, agreed, runs.steps, block)
            if ranks.all:
                asked = self._pairs(kernel, agreed, known=ranks.known)
        found.in_step, found.doubts = asked.in_step, asked.doubts
        for pair in asked.pairs:
            sought = frozenset(pair.points) not in told and not runs.rules_out(pair)
            race = witnesses.race(pair) if sought else None
            if race is None and _stores_one_value(pair):
                found.same_value.append(pair)
            elif race is not None:
                found.races.append(race)
                told.add(frozenset(pair.points))
            else:
                found.left.append(pair)
        if not found.races and (found.left or found.doubts):
            found.races += runs.races()
            told |= {frozenset(race.points) for race in found.races}
            found.with_some_data = [
                race for race in runs.with_some_data() if frozenset(race.points) not in told
            ]
            told |= {frozenset(race.points) for race in found.with_some_data}
        found.left = [pair for pair in found.left if frozenset(pair.points) not in told]
        if found.left and not (found.races or found.doubts or found.with_some_data):
            self._note_contract(kernel, agreed, witnesses, found)
        if self._effort.is_over:
            found.doubts += [Reason(_UNDECIDED, pair.points[1], self._need) for pair in found.left]
        if not (found.races or found.left or found.with_some_data or found.doubts):
            found.leaving = leaving(kernel, self._accesses, agreed)
        return found

    def _note_contract(
        self, kernel: Kernel, agreed: frozenset[int], witnesses: Witnesses, found: _Found
    ) -> None:
        """Note what the host is to keep to so that no threads meet, if a condition that is tried does that."""
        x, y, z = witnesses.block
        passed = [name for name, is_pointer in witnesses.parameters if not is_pointer]
        for condition in weakest(kernel, found.left, passed, x * y * z):
            claims = (condition.claim,)
            asked = self._pairs(kernel, agreed, known=lambda *_, claims=claims: claims)
            if not (asked.pairs or asked.doubts):
                pair = found.left[0]
                text = f"the host passes {condition.text}; else {may_meet(pair)}"
                options = (condition.text,) if condition.is_option else ()
                source = AssumptionSource.HOST
                found.contract = [Reason(text, pair.points[1], Need.VALUES, options, source)]
                found.left, found.in_step = [], asked.in_step
                return

    def _gone(
        self, kernel: Kernel, agreed: frozenset[int], blocks: Callable[[], Sequence[Dim]]
    ) -> tuple[list[AbsentSource], list[Reason]]:
        """Return which lanes read from others that have left, in all of some blocks, and what is taken."""
        absent: list[AbsentSource] = []
        taken: list[Reason] = []
        for gone in gone_lanes(kernel, agreed):
            found: list[AbsentSource | None] = []
            if gone.is_read and gone.is_left_alone:
                for block in blocks():
                    witnesses = Witnesses(self._view, kernel, self._accesses, block, agreed)
                    found.append(LeftRounds(kernel, witnesses, block).absent_source(gone.point))
            if found and found[0] is not None and None not in found:
                absent.append(found[0])
            else:
                taken.append(_taken_of(gone))
        return absent, taken

    def _kernel(self, geometry: Geometry) -> Kernel:
        view = self._view
        return Kernel(view.facts, layout_of(view.function, view.module), geometry, self._effort)

    def _kernel_in(self, block: Dim) -> Kernel:
        return self._kernel(Geometry(block))

    def _pairs(
        self, kernel: Kernel, agreed: frozenset[int], *, all_of_them: bool = True, known: Known | None = None
    ) -> _Asked:
        """Return what meets; without `all_of_them` as little as shows that something does."""
        if not any(access.action is not Action.READ for access in self._accesses):
            return _Asked()
        level = Relation.ANY.level
        threads = two_threads(kernel, level)
        found = self._in_relation(kernel, agreed, Relation.ANY, 1, threads, known)
        if found.pairs or found.doubts:
            most = MOST_FOUND if all_of_them else 1
            found = self._in_relation(kernel, agreed, Relation.OTHER_WARPS, most, threads, known)
            if all_of_them or not (found.pairs or found.doubts):
                lanes = self._in_relation(kernel, agreed, Relation.SAME_WARP, most, known=known)
                found.pairs += lanes.pairs
                found.in_step += lanes.in_step
                found.doubts += lanes.doubts
        return found

    def _in_relation(
        self,
        kernel: Kernel,
        agreed: frozenset[int],
        relation: Relation,
        most: int,
        threads: tuple[ThreadTerms, ThreadTerms] | None = None,
        known: Known | None = None,
    ) -> _Asked:
        found = _Asked()
        asked = Pairs(kernel, relation, self._accesses, most, threads, known)
        for interval in intervals_of(kernel, relation.level, agreed):
            try:
                meeting = asked.meeting(interval)
            except TooManyVisitsError:
                text, need = (_UNDECIDED, self._need) if self._effort.is_over else (_TOO_MANY, Need.NOTHING)
                found.doubts.append(Reason(text, interval.start or 0, need))
                continue
            found.pairs += meeting.pairs
            found.in_step += meeting.in_step
            found.doubts += [Reason(_UNDECIDED, point, self._need) for _, point in meeting.undecided]
            if most == 1 and (found.pairs or found.doubts):
                break
        return found


def _open_meetings(kernel: Kernel, agreed: frozenset[int]) -> tuple[list[Reason], list[Reason]]:
    """Return what threads may not come to alike: barriers that order accesses, and other instructions of warps."""
    parting = [Reason(_MAY_PART, point) for point in Meetings(kernel.facts, Uniformity.CTA, agreed).guarded]
    lanes: list[Reason] = []
    ordering = Meetings(kernel.facts, Uniformity.WARP, agreed).points
    for each in open_collectives(kernel, agreed):
        (parting if each.point in ordering else lanes).append(Reason(each.why, each.point))
    return parting, lanes


_BOUND = "the block is taken to be {}, with all threads that it may have"
_SUGGESTED = "the block is taken to be {}, as its code suggests"
_OTHER_BLOCK = "the block is not known: the kernel asserts another one than those that are tried"
_MAY_PART = "threads may go different ways here, of which one leads to a barrier that the other does not have"
_TOO_MANY = "too many ways lead from this barrier to the next ones"
_UNDECIDED = "whether two threads meet here was not decided within the effort"


_LANE_UNUSED = "what shfl.sync reads from a lane that has ended is not used"


def _taken_of(gone: GoneLanes) -> Reason:
    text = _LANE_UNUSED if gone.is_read else ENDED_LANES.text
    return Reason(text, gone.point, source=AssumptionSource.HARDWARE)


def _common(each: Sequence[_Found]) -> _Found:
    """Return what goes wrong in all blocks that are tried; what does in some of them only is left open.

    What is taken for granted in one of them is.
    """
    first = each[0]
    races = [race for race in first.races if all(_has(other.races, race.points) for other in each)]
    told = {frozenset(race.points) for race in races}
    divergences = [d for d in first.divergences if all(_has(other.divergences, d.points) for other in each)]
    absent = [a for a in first.absent if all(a.point in (b.point for b in other.absent) for other in each)]
    gone = [reason for other in each for reason in other.gone]
    gone += [
        Reason(_LANE_UNUSED, a.point, source=AssumptionSource.HARDWARE)
        for other in each
        for a in other.absent
        if all(a.point != told.point for told in absent)
    ]
    found = _Found(races, divergences, absent, gone)
    for other in each:
        found.in_step += [pair for pair in other.in_step if not _is_told(found.in_step, pair)]
        found.same_value += [pair for pair in other.same_value if not _is_told(found.same_value, pair)]
        found.leaving = found.leaving or other.leaving
        found.left += [pair for pair in other.left if frozenset(pair.points) not in told]
        found.contract += other.contract
        found.with_some_data += [
            race for race in other.with_some_data if not _has([*races, *found.with_some_data], race.points)
        ]
        found.doubts += other.doubts
        found.doubts += [
            Reason(_NOT_IN_ALL, race.points[0], Need.BLOCK)
            for race in other.races
            if frozenset(race.points) not in told
        ]
        found.parting += other.parting
        found.lanes += other.lanes
        found.parting += [Reason(_MAY_PART, d.branch) for d in other.divergences if d not in divergences]
    return found


_NOT_IN_ALL = "threads meet here in some blocks, and the block is not known"


def _has(found: Sequence[Race] | Sequence[Divergence], points: tuple[int, int]) -> bool:
    return any(set(each.points) == set(points) for each in found)


def _is_told(found: Sequence[Pair], pair: Pair) -> bool:
    return any(each.points == pair.points for each in found)


def _stores_one_value(pair: Pair) -> bool:
    """Tell whether threads store by one instruction, at an address that is not loaded: maybe one value."""
    addresses = variables_of(pair.first.address, pair.second.address)
    is_store = pair.points[0] == pair.points[1] and pair.first.access.action is Action.WRITE
    return is_store and not any(variable.name.startswith(LOADED) for variable in addresses)


def may_meet(pair: Pair) -> str:
    """Say of two accesses that they may be of the same byte."""
    one, two = pair.first.access, pair.second.access
    what = f"{two.action.article} {two.action.value} and {one.action.article} {one.action.value}"
    why = "both volatile or atomic" if one.strong and two.strong else "by what is passed or loaded"
    return f"{pair.relation.value} may meet here, {what}, {why}"
