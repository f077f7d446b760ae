"""A state of the product, less where strands stand: barriers, groups, last accesses of memory, and who knows what.

Property: `weaken` makes a state that stands for all that either of two states stands for: whatever holds of what may
follow it holds of what may follow them.

Argument: two states with equal `control` do the same next. The rest is a lattice. What has to be known of (accesses
in cells, arrivals, waits, announcements) is united: more of it is asked for. What is known is intersected; a landmark
that is not active in a state stands for an event that never happened there, of which everybody knows as much as there
is to know: it counts as known in that state. That the last completion of a parity is known is such a landmark, too.

Not covered: which of the two histories an access belongs to: a race of accesses of two histories is only a failure to
show that all is well.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import NamedTuple

from ..model.actions import Amount
from ..model.axiom import Axiom
from ..model.equations import contradicting
from ..model.outcome import Equation
from .clocks import Clocks, Slot
from .operations import RegistersStep
from .rows import IN_ORDER, RELEASED, VISIBLE, WIDE, Bits, Knowledge
from .setup import Setup


@dataclass(slots=True)
class Facts:
    """What all states of one exploration rest on."""

    equations: dict[tuple[object, str, str], Equation] = field(default_factory=dict)
    axioms: dict[tuple[Axiom, int], None] = field(default_factory=dict)
    """Axioms of the hardware that were used, with the point at which."""

    def contradicting(self) -> Equation | None:
        """Return an equation that no host can meet together with others."""
        return contradicting(self.equations.values())

    def take(self, axiom: Axiom, point: int) -> None:
        self.axioms.setdefault((axiom, point))


@dataclass(slots=True)
class Word:
    """One mbarrier. What counts in its present phase is known by parity alone."""

    is_live: bool = False
    parity: int = 0
    count: int = 0
    pending: int = 0
    expected: Amount = 0
    completed: Amount = 0
    is_asynchronous: bool = False
    has_transfers: bool = False
    made: Bits = 0
    """Landmark of its initialisation."""
    maker: int = -1
    is_fenced: bool = False
    is_overwritten: bool = False
    tokens: dict[tuple[int, int], int] = field(default_factory=dict)
    """For each strand and state: 0 for the present phase, 1 for the last one, 2 for those before."""
    expects: Bits = 0
    """Announcements of bytes in this phase."""
    raises: Bits = 0
    not_last: Bits = 0
    """Arrivals that must not complete the phase."""
    now: Bits = 0
    """What counts in this phase."""
    last: Bits = 0
    """What counted in the last one: who knows all of it knows that the phase is over."""
    is_last_told: bool = True
    """Whoever knows of all that counted in the last phase knows that it is over."""
    commits: frozenset[tuple[int, str, int]] = frozenset()
    last_commits: frozenset[tuple[int, str, int]] = frozenset()
    others: Bits = 0
    last_others: Bits = 0
    """What counted besides arrivals of commits."""
    is_opaque: bool = False
    was_opaque: bool = False
    """Transfers or raised counts belong to the phase."""
    was_asynchronous: bool = False
    """Some phase was."""
    outstanding: int = 0
    """Work may complete when it is no more: 1 if its phases are to be known to be over, 2 if that is never known."""
    waits: Bits = 0
    """Waits for the last phase that were over before the present one ends."""
    least_expected: int = 0
    """So many bytes are announced at the least when all arrivals of this phase have come, and no transfer has."""

    def copy(self) -> Word:
        return Word(
            self.is_live, self.parity, self.count, self.pending, self.expected, self.completed, self.is_asynchronous,
            self.has_transfers, self.made, self.maker, self.is_fenced, self.is_overwritten, dict(self.tokens),
            self.expects, self.raises, self.not_last, self.now, self.last, self.is_last_told, self.commits,
            self.last_commits, self.others, self.last_others, self.is_opaque, self.was_opaque,
            self.was_asynchronous, self.outstanding, self.waits, self.least_expected,
        )  # fmt: skip

    def control(self) -> Hashable:
        tokens = tuple(sorted(self.tokens.items()))
        return (
            self.is_live, self.parity, self.count, self.pending, self.expected, self.completed, self.is_asynchronous,
            self.has_transfers, self.made, self.maker, self.is_fenced, self.is_overwritten, tokens,
            self.outstanding,
        )  # fmt: skip

    def covered_by(self, old: Word) -> bool:
        mine, its = self._sets(), old._sets()
        return (
            all(not one & ~other for one, other in zip(mine, its, strict=True))
            and self.commits <= old.commits and self.last_commits <= old.last_commits
            and self.is_opaque <= old.is_opaque and self.was_opaque <= old.was_opaque
            and self.was_asynchronous <= old.was_asynchronous
            and self.is_last_told >= old.is_last_told and self.least_expected >= old.least_expected
        )  # fmt: skip

    def weaken(self, old: Word) -> None:
        self.expects |= old.expects
        self.raises |= old.raises
        self.not_last |= old.not_last
        self.now |= old.now
        self.last |= old.last
        self.others |= old.others
        self.last_others |= old.last_others
        self.waits |= old.waits
        self.commits |= old.commits
        self.last_commits |= old.last_commits
        self.is_opaque |= old.is_opaque
        self.was_opaque |= old.was_opaque
        self.was_asynchronous |= old.was_asynchronous
        self.is_last_told &= old.is_last_told
        self.least_expected = min(self.least_expected, old.least_expected)

    def needed(self) -> Bits:
        """Return the landmarks of this mbarrier that may still be asked for, less those of its phases."""
        return (
            self.expects | self.raises | self.not_last | self.now | self.last | self.others | self.last_others
            | self.waits | (self.made if self.is_live else 0)
        )  # fmt: skip

    def lattice(self) -> Hashable:
        """Return what joins change."""
        return (
            *self._sets(), tuple(sorted(self.commits)), tuple(sorted(self.last_commits)), self.is_opaque,
            self.was_opaque, self.was_asynchronous, self.is_last_told, self.least_expected,
        )  # fmt: skip

    def _sets(self) -> tuple[Bits, ...]:
        return (
            self.expects, self.raises, self.not_last, self.now, self.last, self.others, self.last_others, self.waits
        )  # fmt: skip


@dataclass(slots=True)
class Meet:
    """One counted barrier."""

    needed: int = 0
    without_exited: bool = False
    arrived: int = 0
    strands: Bits = 0
    """Strands that have arrived, as bits."""
    waiting: Bits = 0
    """Of these, strands that wait, or will."""
    owed: Bits = 0
    """Strands that have arrived in a generation that is complete, and have not left it."""
    is_over: bool = False
    """A generation is complete of a barrier that strands were said to come to once."""
    now: Bits = 0
    last: Bits = 0
    """Arrivals of this generation and the last one."""

    def copy(self) -> Meet:
        return Meet(
            self.needed, self.without_exited, self.arrived, self.strands, self.waiting, self.owed,
            self.is_over, self.now, self.last,
        )  # fmt: skip

    def control(self) -> Hashable:
        return (
            self.needed if self.arrived else 0, self.without_exited, self.arrived, self.strands, self.waiting,
            self.owed, self.is_over,
        )  # fmt: skip


@dataclass(slots=True)
class Groups:
    """The groups of one pipeline of a strand, but for what is known when they are complete."""

    closed: int = 0
    kept: int = 0
    """The newest of them that are kept apart; what is known when older ones are complete is part of the oldest."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of registers, and which of the others it knew of."""

    strand: int
    step: RegistersStep
    known: Bits


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes of registers in a CTA."""

    made: tuple[Change, ...] = ()
    held: tuple[tuple[int, tuple[int, int]], ...] = ()
    """For strands, the registers that they held before these, and the warps that they stand for."""

    def control(self) -> Hashable:
        return tuple((each.strand, each.step.event, each.known) for each in self.made), self.held


class Poll(NamedTuple):
    """A poll whose answer was taken to tell nothing, and the phase that it looked at."""

    point: int
    left: int
    """Phases that have to end for that one to be over; below 0: a later one has ended, or the mbarrier is new."""


class State:
    """Barriers, groups, memory, and who knows what of it. It is changed in place."""

    def __init__(self, setup: Setup, facts: Facts | None = None) -> None:
        self.setup = setup
        self.facts = facts if facts is not None else Facts()
        self.active: Bits = 0
        """Landmarks of events that have happened."""
        self.clocks = Clocks(setup.rows, dict.fromkeys(range(len(setup.strands)), 0))
        self.words: dict[int, Word] = {}
        self.meets: dict[int, Meet] = {}
        self.groups: dict[int, Groups] = {}
        self.cells: dict[int, tuple[Bits, Bits]] = {}
        """For each cell of memory, the last writes and the reads since then."""
        self.inside: Bits = 0
        """Strands that have arrived at a rendezvous that they wait at."""
        self.awaiting: dict[int, int] = {}
        """Strands that a wait has stopped, and the mbarriers."""
        self.polled: dict[tuple[int, int, int], frozenset[Poll]] = {}
        """For each strand, mbarrier and parity: polls whose answers were taken to tell nothing, since its last wait."""
        self.ended: Bits = 0
        self.fences_inits: Bits = 0
        """Strands that have fenced initialisations."""
        self.far: dict[int, Bits] = {}
        """For each CTA, what reaches into its memory from others."""
        self.held: dict[int, int] = {}
        self.free: dict[int, int] = {}
        """Registers of a thread that strands hold, and that each CTA has free."""
        self.changes: dict[int, Changes] = {}
        """Changes of registers, by CTA."""
        self.late_fences: dict[tuple[int, int], Bits] = {}
        """For each strand and point of a multiplication: stores that others multiply there, to be fenced before."""
        self.multiplied_unfenced: dict[tuple[int, int], Bits] = {}
        """For the same, stores that the strand had not fenced when it came there."""
        self.allocated: dict[int, int] = {}
        """Allocations of tensor memory that are not freed, by CTA."""
        self.freed: frozenset[tuple[int, int]] = frozenset()
        self.heard: frozenset[int] = frozenset()
        """CTAs that have heard that there is no launch to cancel."""
        self.asked: dict[int, Bits] = {}
        """Requests to cancel a launch, by CTA."""
        self.copies: dict[int, Bits] = {}
        """For each CTA, its own copies."""

    def copy(self) -> State:
        """Return a state that changes by itself; facts are shared."""
        found = State.__new__(State)
        found.setup, found.facts = self.setup, self.facts
        found.active, found.clocks = self.active, self.clocks.copy()
        found.words = {barrier: word.copy() for barrier, word in self.words.items()}
        found.meets = {meeting: meet.copy() for meeting, meet in self.meets.items()}
        found.groups = {pipeline: Groups(each.closed, each.kept) for pipeline, each in self.groups.items()}
        found.cells, found.awaiting = self.cells.copy(), self.awaiting.copy()
        found.polled = self.polled.copy()
        found.inside, found.ended, found.fences_inits = self.inside, self.ended, self.fences_inits
        found.far, found.copies = self.far.copy(), self.copies.copy()
        found.held, found.free, found.changes = self.held.copy(), self.free.copy(), self.changes.copy()
        found.late_fences, found.multiplied_unfenced = (
            self.late_fences.copy(),
            self.multiplied_unfenced.copy(),
        )
        found.allocated, found.freed = self.allocated.copy(), self.freed
        found.heard, found.asked = self.heard, self.asked.copy()
        return found

    # -- events

    def happen(self, event: Bits) -> None:
        """Let an event happen that nobody knows of yet."""
        if self.active & event:
            self.forget(event)
        else:
            self.active |= event

    def forget(self, event: Bits) -> None:
        """Let nobody know of an event."""
        self.clocks.forget(event)

    def knows(self, strand: int, events: Bits) -> bool:
        """Tell whether a strand knows that events have happened."""
        return not events & self.active & ~self.clocks[strand]

    def known_in(self, cta: int) -> Knowledge:
        """Return what some strand of a CTA knows."""
        known: Knowledge = 0
        for strand, each in enumerate(self.setup.strands):
            if each.cta == cta:
                known |= self.clocks[strand]
        return known

    def add(self, slot: Slot, known: Knowledge) -> None:
        """Let somebody know."""
        if known:
            self.clocks[slot] = self.clocks.get(slot, 0) | known

    def stamp(self, strand: int) -> Knowledge:
        """Return what a strand hands on; in a cluster, also what its own CTA has shown it."""
        setup = self.setup
        known = self.clocks[strand]
        if not setup.is_cluster:
            return known
        rows = setup.rows
        own = rows.of(known, VISIBLE) & setup.synchronous_in[setup.strands[strand].cta]
        return known | own << rows.at[RELEASED] | own << rows.at[WIDE]

    def learn(self, strand: int, published: Knowledge, *, acquires: bool = True, wide: bool = True) -> None:
        """Let a strand see what a barrier publishes."""
        rows = self.setup.rows
        if strand in self.setup.acquirers:
            self.add(("acquirable", strand), published)
        if not acquires:
            at_once = (
                rows.all & ~self.setup.asynchronous
            )  # that copies are complete is seen by who acquires it
            published &= rows.all | at_once << rows.at[IN_ORDER] | rows.all << rows.at[RELEASED]
        elif not wide:
            published &= rows.narrow | rows.all
        self.clocks[strand] |= published
