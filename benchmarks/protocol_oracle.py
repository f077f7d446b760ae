"""Every schedule of a small protocol, one after the other: what the PTX ISA says of each.

This shares nothing with the verifier but the types of actions. It has no clocks and no order argument: it walks
through every interleaving of strands and every moment of completion of asynchronous work, and says what is wrong
with any of them:

- a strand never ends; an mbarrier is used before it is initialised or is initialised twice; more arrivals than
  expected; an action counts in, or observes, another phase than in another schedule;
- a read sees bytes whose write may not be visible, or writes collide: visibility is a set of writes for each strand,
  which releases put on barriers and acquires take from them (PTX ISA, "Memory consistency model"); a read through
  the async proxy moreover needs a generic write to be fenced by its writer;
- a write and an earlier read of the same bytes happen in both orders in different schedules, or the write happens
  while an asynchronous read is in flight;
- all threads of a CTA have ended while another CTA still has something to do in its shared memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from ptxcheck.protocols.model.actions import (
    Access,
    Action,
    Arrive,
    AsyncArrive,
    Barrier,
    Commit,
    Expect,
    Fence,
    Init,
    Inval,
    Protocol,
    Proxy,
    Registers,
    Rendezvous,
    Span,
    Transfer,
    Wait,
    WaitGroup,
)
from ptxcheck.protocols.model.sync_objects import ClusterBarrier, CountedBarrier

Bits = int
"""A set of actions: bit n for the action of number n over all strands."""


@dataclass(frozen=True, slots=True)
class View:
    """What a strand, or a barrier on behalf of strands, knows."""

    seen: Bits = 0
    """Writes whose bytes are visible, and asynchronous work known to be complete."""
    fenced: Bits = 0
    """Generic writes that their writers fenced against the async proxy."""
    crossed: Bits = 0
    """Generic writes that anybody fenced against the async proxy."""
    inits: Bits = 0

    def __or__(self, other: View) -> View:
        return View(
            self.seen | other.seen, self.fenced | other.fenced, self.crossed | other.crossed,
            self.inits | other.inits,
        )  # fmt: skip


NOTHING = View()


@dataclass(frozen=True, slots=True)
class Thread:
    """A strand: where it is, what it knows, what its last release fence covered, what it has yet to acquire."""

    at: int = 0
    view: View = NOTHING
    released: View = NOTHING
    pending: View = NOTHING
    inside: int = -1
    """Generation of the rendezvous that it has arrived at and not left."""


@dataclass(frozen=True, slots=True)
class Word:
    """An mbarrier: who initialised it, counts, phase, what arrivals of this phase and of the last one publish."""

    maker: int
    expected: int
    pending: int
    bytes: int = 0
    phase: int = 0
    gathering: View = NOTHING
    last: View = NOTHING


@dataclass(frozen=True, slots=True)
class Meeting:
    """A counted barrier."""

    arrived: int = 0
    needed: int = 0
    gathering: View = NOTHING
    done: tuple[View, ...] = ()
    who: Bits = 0
    without_exited: bool = False


@dataclass(frozen=True, slots=True)
class World:
    """One state."""

    threads: tuple[Thread, ...]
    words: tuple[tuple[Barrier, Word], ...] = ()
    meetings: tuple[tuple[CountedBarrier, Meeting], ...] = ()
    flights: Bits = 0
    covered: tuple[tuple[int, Bits], ...] = ()
    """Work that was issued, each with the work its issuer had seen complete: who sees the one sees the other."""


class Kind(Enum):
    """What can be wrong with a schedule."""

    CONTROL = "control"
    """It does not end, or phases differ: the search stops there."""
    INIT = "initialisation"
    RACE = "race"
    PROXY = "proxy"
    EXIT = "exit"


class GoneWrongError(Exception):
    """A schedule has gone wrong in a way that makes it useless to go on."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What is wrong with some schedule. Complete unless control is among it."""

    wrong: Mapping[Kind, str]

    @property
    def fine(self) -> bool:
        return not self.wrong


class Oracle:
    """All schedules of one protocol."""

    def __init__(self, protocol: Protocol) -> None:
        self.programs = [strand.actions for strand in protocol.strands]
        self.ctas = [strand.cta for strand in protocol.strands]
        self.groups = [strand.warp // 4 for strand in protocol.strands]
        self.registers = protocol.registers
        self.first: list[int] = []
        self.actions: list[Action] = []
        self.owner: list[int] = []
        for strand, actions in enumerate(self.programs):
            self.first.append(len(self.actions))
            self.actions += actions
            self.owner += [strand] * len(actions)
        self.phases: dict[int, int] = {}
        self.orders: set[tuple[int, int]] = set()
        self.wrong: dict[Kind, str] = {}

    def answer(self, limit: int) -> Answer | None:
        """Return what all schedules show, None when there are more states than the limit."""
        start = World(tuple(Thread() for _ in self.programs))
        known, waiting = {start}, [start]
        try:
            while waiting:
                world = waiting.pop()
                self.check_exits(world)
                moves = list(self.moves(world))
                if not moves and not self.is_over(world):
                    raise GoneWrongError("deadlock")
                for each in moves:
                    if each not in known:
                        known.add(each)
                        waiting.append(each)
                if len(known) > limit:
                    return None
        except GoneWrongError as bad:
            self.note(Kind.CONTROL, str(bad))
        return Answer(self.wrong)

    def note(self, kind: Kind, reason: str) -> None:
        self.wrong.setdefault(kind, reason)

    # -- steps

    def is_over(self, world: World) -> bool:
        return all(t.at == len(p) for t, p in zip(world.threads, self.programs, strict=True))

    def moves(self, world: World) -> Iterator[World]:
        for strand, thread in enumerate(world.threads):
            if thread.at < len(self.programs[strand]):
                number = self.first[strand] + thread.at
                after = self.act(world, strand, number, self.actions[number])
                if after is not None:
                    yield after
        for number in bits(world.flights):
            after = self.land(world, number)
            if after is not None:
                yield after

    def act(self, world: World, strand: int, number: int, action: Action) -> World | None:
        thread = world.threads[strand]
        match action:
            case Wait():
                return self.wait(world, strand, thread, number, action)
            case WaitGroup():
                return self.wait_group(world, strand, thread, action)
            case Rendezvous():
                return self.meet(world, strand, thread, number, action)
            case Registers():
                return self.change_registers(world, strand, thread, action)
            case Commit():
                return self.go_on(world, strand, thread)
            case Fence():
                return self.go_on(world, strand, self.fence(strand, thread, action))
            case Access():
                self.touch(world, thread, number, action.reads, action.writes, Proxy.GENERIC, action.combines)
                view = replace(thread.view, seen=thread.view.seen | 1 << number)
                return self.go_on(world, strand, replace(thread, view=view))
            case Transfer() | AsyncArrive():
                return self.go_on(self.issue(world, thread, number, action), strand, thread)
            case _:
                return self.operate(world, strand, thread, number, action)

    def operate(self, world: World, strand: int, thread: Thread, number: int, action: Action) -> World:
        """Do an operation on an mbarrier that never waits."""
        match action:
            case Init():
                if word_of(world, action.barrier) is not None:
                    raise GoneWrongError("double initialisation")
                world = with_word(world, action.barrier, Word(number, action.count, action.count))
                view = replace(thread.view, inits=thread.view.inits | 1 << number)
                return self.go_on(world, strand, replace(thread, view=view))
            case Inval():
                if word_of(world, action.barrier) is None:
                    raise GoneWrongError("invalidated before it is initialised")
                words = tuple((name, word) for name, word in world.words if name != action.barrier)
                return self.go_on(replace(world, words=words), strand, thread)
            case Arrive(expect=int(amount)):
                self.needs_init(world, thread, action.barrier)
                published = thread.view if action.releases else thread.released
                world = self.count(
                    world, number, action.barrier, amount, action.count, published, action.drop
                )
                return self.go_on(world, strand, thread)
            case Expect(amount=int(amount)):
                self.needs_init(world, thread, action.barrier)
                world = self.count(world, number, action.barrier, amount, 0, thread.released)
                return self.go_on(world, strand, thread)
            case _:
                raise AssertionError("not generated")

    def issue(self, world: World, thread: Thread, number: int, action: Transfer | AsyncArrive) -> World:
        """Start asynchronous work."""
        covered = tuple(sorted({**dict(world.covered), number: self.landed(thread)}.items()))
        if isinstance(action, Transfer):
            for barrier, _ in action.completes:
                self.needs_init(world, thread, barrier)
            self.touch(world, thread, number, action.reads, action.writes, action.proxy, action.combines)
        else:
            self.needs_init(world, thread, action.barrier)
            word = word_of(world, action.barrier)
            if action.increments and word is not None:
                self.same_phase(number, word.phase)
                world = with_word(world, action.barrier, replace(word, pending=word.pending + action.count))
        return replace(world, flights=world.flights | 1 << number, covered=covered)

    def go_on(self, world: World, strand: int, thread: Thread) -> World:
        moved = replace(thread, at=thread.at + 1)
        threads = (*world.threads[:strand], moved, *world.threads[strand + 1 :])
        return self.settle(replace(world, threads=threads))

    def settle(self, world: World) -> World:
        """Complete barriers for which threads that have ended count."""
        for name, meeting in world.meetings:
            if not meeting.who or not meeting.without_exited:
                continue
            gone = sum(
                1 for s, t in enumerate(world.threads)
                if t.at == len(self.programs[s]) and not meeting.who >> s & 1
                and (isinstance(name, ClusterBarrier) or name.cta == self.ctas[s])
            )  # fmt: skip
            if meeting.arrived + gone >= meeting.needed:
                done = Meeting(done=(*meeting.done, meeting.gathering))
                world = replace(
                    world, meetings=tuple((n, done if n == name else m) for n, m in world.meetings)
                )
        return world

    def fence(self, strand: int, thread: Thread, action: Fence) -> Thread:
        view, released = thread.view, thread.released
        if action.acquires:
            view = view | thread.pending
        if action.proxy:
            own = 0
            for index in range(thread.at):
                number = self.first[strand] + index
                each = self.actions[number]
                if (isinstance(each, Access) and each.writes) or (
                    isinstance(each, Transfer) and each.pipeline == "cp.async" and view.seen >> number & 1
                ):
                    own |= 1 << number
            view = replace(view, fenced=view.fenced | own, crossed=view.crossed | view.seen)
        if action.releases:
            released = view
        elif action.inits:
            released = replace(released, inits=view.inits)
        return replace(thread, view=view, released=released)

    def change_registers(self, world: World, strand: int, thread: Thread, action: Registers) -> World | None:
        if self.registers is not None:
            held = [self.registers] * len(self.programs)
            for other, each in enumerate(world.threads):
                for done in self.programs[other][: each.at]:
                    if isinstance(done, Registers):
                        held[other] = done.count
            inside = [s for s in range(len(held)) if self.ctas[s] == self.ctas[strand]]
            pool = self.registers * len(inside)
            if action.increases and sum(held[s] for s in inside if s != strand) + action.count > pool:
                return None
        return self.go_on(world, strand, thread)

    # -- mbarriers

    def needs_init(self, world: World, thread: Thread, name: Barrier) -> None:
        word = word_of(world, name)
        if word is None:
            raise GoneWrongError("used before it is initialised")
        if not thread.view.inits >> word.maker & 1:
            self.note(Kind.INIT, "the initialisation may not be visible")

    def same_phase(self, number: int, phase: int) -> None:
        if self.phases.setdefault(number, phase) != phase:
            raise GoneWrongError(f"phase {phase} or {self.phases[number]} for action {number}")

    def count(
        self,
        world: World,
        number: int,
        name: Barrier,
        amount: int,
        arrivals: int,
        published: View,
        drop: bool = False,
    ) -> World:
        word = word_of(world, name)
        if word is None:  # work completes on an mbarrier that is not live any more
            return world
        self.same_phase(number, word.phase)
        pending = word.pending - arrivals
        if pending < 0:
            raise GoneWrongError("more arrivals than expected")
        expected = word.expected - (arrivals if drop else 0)
        after = replace(
            word,
            expected=expected,
            pending=pending,
            bytes=word.bytes + amount,
            gathering=word.gathering | published,
        )
        if after.pending == 0 and after.bytes == 0:
            after = Word(word.maker, expected, expected, 0, word.phase + 1, NOTHING, after.gathering)
        return with_word(world, name, after)

    def wait(self, world: World, strand: int, thread: Thread, number: int, action: Wait) -> World | None:
        self.needs_init(world, thread, action.barrier)
        word = word_of(world, action.barrier)
        assert word is not None
        if action.parity is not None:
            if word.phase % 2 == action.parity:
                return None
            self.same_phase(number, word.phase - 1)
        else:
            phase = self.phases[self.first[strand] + action.token]
            if word.phase == phase:
                return None
            if word.phase > phase + 1:
                raise GoneWrongError("a state of a phase that is long over")
        view = thread.view | word.last if action.acquires else thread.view
        return self.go_on(world, strand, replace(thread, view=view, pending=thread.pending | word.last))

    # -- groups and work in flight

    def land(self, world: World, number: int) -> World | None:
        """Complete work in flight, if it may."""
        action, strand = self.actions[number], self.owner[number]
        after = replace(world, flights=world.flights & ~(1 << number))
        if isinstance(action, Transfer):
            for barrier, amount in action.completes:
                assert isinstance(amount, int)
                after = self.count(
                    after, number, barrier, -amount, 0, View(seen=self.shown(world, 1 << number))
                )
            return after
        assert isinstance(action, AsyncArrive)
        earlier = self.work_before(strand, number, action.pipeline)
        if (earlier | self.alike_before(strand, number, action)) & world.flights:
            return None
        seen = self.shown(world, earlier | 1 << number) & ~(1 << number)
        return self.count(after, number, action.barrier, 0, action.count, View(seen=seen))

    def landed(self, thread: Thread) -> Bits:
        """Return the asynchronous work that a strand has seen complete."""
        return sum(1 << n for n in bits(thread.view.seen) if isinstance(self.actions[n], Transfer))

    def shown(self, world: World, work: Bits) -> Bits:
        """Return what is visible to those who know that some work is complete."""
        for number, under in world.covered:
            if work >> number & 1:
                work |= under
        return work

    def alike_before(self, strand: int, number: int, action: AsyncArrive) -> Bits:
        """Return earlier arrivals of a thread that do the same: which of them counts first makes no difference."""
        if action.increments or action.count != 1:
            return 0
        plain = (
            other for other in range(self.first[strand], number)
            if isinstance(self.actions[other], AsyncArrive)
        )  # fmt: skip
        return sum(
            1 << other for other in plain if replace(self.actions[other], point=action.point) == action
        )

    def work_before(self, strand: int, number: int, pipeline: str) -> Bits:
        found = 0
        for other in range(self.first[strand], number):
            each = self.actions[other]
            if isinstance(each, Transfer) and each.pipeline == pipeline:
                found |= 1 << other
        return found

    def wait_group(self, world: World, strand: int, thread: Thread, action: WaitGroup) -> World | None:
        commits = self.commits(world, strand, action.pipeline)
        complete = 0
        for member in self.members(strand, action.pipeline):
            theirs = self.commits(world, member, action.pipeline)
            if len(theirs) < len(commits):
                return None
            last = len(commits) - action.pending
            if last > 0:
                covered = self.work_before(member, theirs[last - 1], action.pipeline)
                complete |= sum(1 << n for n in bits(covered) if not (action.read and self.writes_shared(n)))
        if complete & world.flights:
            return None
        view = replace(thread.view, seen=thread.view.seen | self.shown(world, complete))
        return self.go_on(world, strand, replace(thread, view=view))

    def writes_shared(self, number: int) -> bool:
        action = self.actions[number]
        return isinstance(action, Transfer) and bool(action.writes)

    def commits(self, world: World, strand: int, pipeline: str) -> list[int]:
        """Return the numbers of the commits that a strand has done."""
        first = self.first[strand]
        return [
            first + index for index in range(world.threads[strand].at)
            if isinstance(each := self.programs[strand][index], Commit) and each.pipeline == pipeline
        ]  # fmt: skip

    def members(self, strand: int, pipeline: str) -> list[int]:
        if pipeline != "wgmma":
            return [strand]
        return [
            other for other, program in enumerate(self.programs)
            if (self.ctas[other], self.groups[other]) == (self.ctas[strand], self.groups[strand])
            and any(isinstance(each, Commit) and each.pipeline == pipeline for each in program)
        ]  # fmt: skip

    # -- counted barriers

    def meet(
        self, world: World, strand: int, thread: Thread, number: int, action: Rendezvous
    ) -> World | None:
        meetings = dict(world.meetings)
        meeting = meetings.get(action.name, Meeting())
        if action.arrives and thread.inside < 0:
            generation = len(meeting.done)
            self.same_phase(number, generation)
            if meeting.arrived and meeting.needed != action.needed:
                raise GoneWrongError("different counts at one barrier")
            arrived = meeting.arrived + action.threads
            if arrived > action.needed:
                raise GoneWrongError("more threads than the barrier expects")
            gathering = meeting.gathering | (thread.view if action.orders else thread.released)
            if arrived == action.needed:
                meeting = Meeting(done=(*meeting.done, gathering))
            else:
                who = meeting.who | 1 << strand
                meeting = Meeting(arrived, action.needed, gathering, meeting.done, who, action.without_exited)
            meetings[action.name] = meeting
            world = replace(world, meetings=tuple(sorted(meetings.items(), key=lambda item: repr(item[0]))))
            if not action.waits:
                return self.go_on(world, strand, thread)
            thread = replace(thread, inside=generation)
            threads = (*world.threads[:strand], thread, *world.threads[strand + 1 :])
            return self.settle(replace(world, threads=threads))
        generation = thread.inside
        if not action.arrives:
            mine = [
                self.first[strand] + index for index in range(thread.at)
                if isinstance(each := self.programs[strand][index], Rendezvous)
                and each.name == action.name and each.arrives
            ]  # fmt: skip
            if not mine:
                raise GoneWrongError("waits without an arrival")
            generation = self.phases[mine[-1]]
        if len(meeting.done) <= generation:
            return None
        view = thread.view | meeting.done[generation]
        if not action.orders:
            view = thread.view
        return self.go_on(world, strand, replace(thread, view=view, inside=-1))

    # -- memory

    def touch(
        self,
        world: World,
        thread: Thread,
        number: int,
        reads: tuple[Span, ...],
        writes: tuple[Span, ...],
        proxy: Proxy,
        combines: bool,
    ) -> None:
        """Compare an access with all others of the protocol: those done, those in flight and those to come."""
        for other, action in enumerate(self.actions):
            if other == number or not isinstance(action, Access | Transfer) or (combines and action.combines):
                continue
            is_done = self.has_started(world, other)
            if meet(action.writes, (*reads, *writes)):
                if is_done:
                    self.must_see(
                        thread, other, action, proxy if meet(action.writes, reads) else Proxy.GENERIC
                    )
            elif meet(action.reads, writes):
                if world.flights >> other & 1:
                    self.note(Kind.RACE, f"{number} overwrites what {other} still reads")
                self.note_order(*((other, number) if is_done else (number, other)))

    def has_started(self, world: World, number: int) -> bool:
        strand = self.owner[number]
        return world.threads[strand].at > number - self.first[strand]

    def note_order(self, first: int, second: int) -> None:
        self.orders.add((first, second))
        if (second, first) in self.orders:
            self.note(Kind.RACE, f"{first} and {second} touch the same bytes in both orders")

    def must_see(self, thread: Thread, other: int, action: Access | Transfer, proxy: Proxy) -> None:
        if not thread.view.seen >> other & 1:
            self.note(Kind.RACE, f"the write {other} may not be visible")
            return
        earlier = action.proxy if isinstance(action, Transfer) else Proxy.GENERIC
        if earlier is Proxy.GENERIC and proxy is Proxy.ASYNC:
            remote = isinstance(action, Transfer) and bool(action.completes)
            fenced = thread.view.crossed if remote else thread.view.fenced
            if not fenced >> other & 1:
                self.note(Kind.PROXY, f"no proxy fence after the write {other}")

    def check_exits(self, world: World) -> None:
        """Look for what reaches into a CTA that has ended; that its own copies are over is not asked for."""
        for cta in set(self.ctas):
            own = [s for s, each in enumerate(self.ctas) if each == cta]
            if any(world.threads[s].at < len(self.programs[s]) for s in own):
                continue
            for number, action in enumerate(self.actions):
                if cta not in places(action) or self.ctas[self.owner[number]] == cta:
                    continue
                if not self.has_started(world, number) or world.flights >> number & 1:
                    self.note(Kind.EXIT, f"CTA {cta} may have ended before {number}")


def bits(mask: Bits) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def word_of(world: World, name: Barrier) -> Word | None:
    for barrier, word in world.words:
        if barrier == name:
            return word
    return None


def with_word(world: World, name: Barrier, word: Word) -> World:
    return replace(
        world, words=tuple(sorted({**dict(world.words), name: word}.items(), key=lambda item: item[0]))
    )


def meet(some: tuple[Span, ...], others: tuple[Span, ...]) -> bool:
    return any(a.cta == b.cta and a.start < b.end and b.start < a.end for a in some for b in others)


def places(action: Action) -> set[int]:
    """Return the CTAs whose shared memory an action touches."""
    match action:
        case Arrive() | Expect() | AsyncArrive() | Wait() | Init():
            return {action.barrier.cta}
        case Access():
            return {span.cta for span in (*action.reads, *action.writes)}
        case Transfer():
            return {span.cta for span in (*action.reads, *action.writes)} | {
                b.cta for b, _ in action.completes
            }
        case _:
            return set()
