"""Phases and lives of mbarriers, as `order.phases`, `order.phase_ends` and `order.mbarrier_lifetimes` have them.

Property: where no step fails, each arrival, expect and transfer counts in the same phase in every schedule, and each
wait observes the same one.

Argument: that of `order.phases`. (1) What counts in phase k knows the completion of phase k-1: by its landmark, or by
those of all that counted in it, where that was no asynchronous work. (2) A wait for phase k knows the completion of
k-1. (3) The completion of phase k+1 knows all waits for k, or they are of strands that only observe. (4) Announcements
of bytes and raised counts are known by some arrival of their phase. Or announcements are known by all transfers of
their phase, and arrivals announce bytes themselves: while one announcement is missing, no transfer has completed, and
what the arrivals announced is open.

Not covered: other announcements that come late and do no harm, as the bytes do not balance without them; older states
than that of the last phase; states of arrivals by other strands, where actions may be repeated.
"""

from __future__ import annotations

from ..model.actions import Amount
from ..model.outcome import MAX_COUNT, Equation, Flaw
from ..order.axioms import BARRIER_LEFT, LATE_INIT, LATE_OBSERVER
from ..symex.values.symbol import Form, plus
from .operations import (
    OTHER_PHASE,
    ArriveStep,
    Count,
    ExpectStep,
    InitStep,
    InvalStep,
    LaterStep,
    Unproved,
    WaitStep,
)
from .pipelines import done_so_far
from .rows import IN_ORDER, INITIALISED, RELEASED, Bits, Knowledge
from .state import Poll, State, Word
from .touches import touch

BLOCKED, DONE = 0, 1
_MAY_END, _NEVER_ENDS = 1, 2
_UNBOUNDED = 1 << 62
"""More bytes than all announcements of a phase."""


def init(state: State, strand: int, step: InitStep) -> int:
    barrier = step.barrier
    word = state.words.get(barrier)
    if word is not None and word.is_live:
        raise Unproved(Flaw.DOUBLE_INIT.value, strand, step.point)
    if not 1 <= step.count <= MAX_COUNT:
        raise Unproved(Flaw.TX_RANGE.value, strand, step.point)
    phases = state.setup.completion[barrier]
    if word is not None and word.outstanding:
        is_over = word.outstanding == _MAY_END and state.knows(strand, phases[0] | phases[1])
        if not is_over:
            raise Unproved(f"{Flaw.EARLY_INVALIDATION.value}: outstanding work", strand, step.point)
    touch(state, strand, (step.kind,))
    fresh = Word(True, 0, step.count, step.count, made=step.kind.bit, maker=strand)
    fresh.is_fenced = bool(state.fences_inits >> strand & 1)
    state.words[barrier] = fresh
    _end_polled(state, barrier, is_new=True)
    state.forget(phases[0] | phases[1])
    state.active &= ~(phases[0] | phases[1])
    for name in ("arrivals", "others", "published", "last-to-come", "transfers"):
        state.clocks.pop((name, barrier))
    return DONE


def inval(state: State, strand: int, step: InvalStep) -> int:
    word = _find(state, strand, step.barrier, step.point)
    _check_users(state, strand, step.barrier, step.point)
    phases = state.setup.completion[step.barrier]
    if word.is_asynchronous:
        word.outstanding = _NEVER_ENDS
    elif word.was_asynchronous and not state.knows(strand, phases[0] | phases[1]):
        word.outstanding = _MAY_END
    if word.outstanding:
        state.facts.take(BARRIER_LEFT, step.point)
    word.is_live = False
    _end_polled(state, step.barrier, is_new=True)
    touch(state, strand, (step.kind,))
    return DONE


def arrive(state: State, strand: int, step: ArriveStep) -> int:
    barrier = step.what.barrier
    word = _find(state, strand, barrier, step.point)
    _after_previous(state, strand, barrier, word, step.point, Flaw.EARLY_ARRIVAL)
    event = _count(state, strand, word, step.what)
    _know(state, strand, step.what, event)
    rows = state.setup.rows
    stamp = state.stamp(strand)
    published = stamp if step.releases else _relaxed(state, strand, stamp)
    if not step.is_wide:
        released = rows.all << rows.at[RELEASED]
        published = published & ~released | state.clocks[strand] & released
    if step.what.far >= 0 and not (step.releases and step.is_wide):
        in_order = rows.all << rows.at[IN_ORDER]
        published = published & ~in_order | state.clocks.get(("released", strand), 0) & in_order
    if step.narrows:
        published &= ~rows.of_cluster
    if step.what.amount != 0:
        _announce(state, strand, word, step.what.amount, step.point)
        word.least_expected += _at_least(step.what.amount)
    if step.token >= 0:
        word.tokens[strand, step.token] = 0
    if step.count < 1:
        raise Unproved(Flaw.TX_RANGE.value, strand, step.point)
    if not step.completes:
        if step.count >= word.pending:
            raise Unproved(Flaw.OVER_ARRIVAL.value, strand, step.point)
        word.not_last |= event
    else:
        state.add(("last-to-come", barrier), published & rows.all)
    state.add(("arrivals", barrier), published)
    word.others |= event
    _take(word, strand, step.count, step.point)
    if step.drop:
        word.count -= step.count
    _complete_if_done(state, strand, barrier, word, step.point)
    return DONE


def arrive_later(state: State, strand: int, step: LaterStep) -> int:
    barrier = step.what.barrier
    word = _find(state, strand, barrier, step.point)
    if step.increments or not _is_in_order(state, strand, barrier, word, step.commits):
        _after_previous(state, strand, barrier, word, step.point, Flaw.EARLY_ARRIVAL)
    event = _count(state, strand, word, step.what)
    state.clocks[strand] |= event
    if step.increments:
        state.happen(step.announced)
        state.clocks[strand] |= step.announced
    done = done_so_far(state, step.pipeline) | state.stamp(strand) & state.setup.of_asynchronous_work
    word.is_asynchronous = True
    if step.finished:
        state.happen(step.finished)
        state.add(("work", barrier), step.finished)
        state.far[step.what.far] = state.far.get(step.what.far, 0) | step.finished
    if step.increments:
        word.pending += step.count
        word.raises |= step.announced
        word.is_opaque = True
        word.others |= event
        state.add(("raised", barrier, strand), done)
    else:
        word.commits |= {step.commits}
        state.add(("arrivals", barrier), done)
        state.add(("last-to-come", barrier), done & state.setup.rows.all)
    _take(word, strand, step.count, step.point)
    _complete_if_done(state, strand, barrier, word, step.point)
    return DONE


def expect(state: State, strand: int, step: ExpectStep) -> int:
    barrier = step.what.barrier
    word = _find(state, strand, barrier, step.point)
    _after_previous(state, strand, barrier, word, step.point, Flaw.EARLY_ARRIVAL)
    event = _count(state, strand, word, step.what)
    state.happen(step.announced)
    state.clocks[strand] |= step.announced
    _know(state, strand, step.what, event)
    word.expects |= step.announced
    word.others |= event
    _announce(state, strand, word, step.what.amount, step.point)
    is_near = step.what.far < 0  # what reaches into another CTA may be late there
    word.least_expected += min(_at_least(step.what.amount), 0) if is_near else -_UNBOUNDED
    state.add(("others", barrier), _relaxed(state, strand, state.stamp(strand)))
    _complete_if_done(state, strand, barrier, word, step.point)
    return DONE


def complete_bytes(state: State, strand: int, what: Count, point: int) -> None:
    """Complete bytes of a transfer; what it touched has been noted."""
    barrier = what.barrier
    word = _find(state, strand, barrier, point)
    _after_previous(state, strand, barrier, word, point, Flaw.EARLY_TRANSFER)
    event = _count(state, strand, word, what)
    state.clocks[strand] |= event
    behind = state.clocks[strand] & state.setup.rows.all
    if word.has_transfers:
        behind &= state.clocks.get(("transfers", barrier), 0)
    state.clocks["transfers", barrier] = behind
    word.completed = plus(word.completed, what.amount)
    word.has_transfers = word.is_asynchronous = word.is_opaque = True
    state.add(("others", barrier), state.stamp(strand) & state.setup.of_asynchronous_work)
    _complete_if_done(state, strand, barrier, word, point)


def wait(state: State, strand: int, step: WaitStep) -> int:
    barrier = step.barrier
    word = state.words.get(barrier)
    if word is None or not word.is_live:
        raise Unproved(Flaw.UNINITIALISED.value, strand, step.point)
    if step.parity is None:
        if not _state_is_over(state, strand, word, step):
            state.awaiting[strand] = barrier
            return BLOCKED
    elif word.parity == step.parity:
        # A poll after which the thread goes on need not come to its phase at all: it is judged here, not behind it.
        if not state.knows(strand, state.setup.completion[barrier][word.parity ^ 1]):
            raise Unproved(Flaw.EARLY_WAIT.value, strand, step.point)
        state.awaiting[strand] = barrier
        return BLOCKED
    state.awaiting.pop(strand, None)
    _find(state, strand, barrier, step.point)
    if step.parity is not None:
        before = state.setup.completion[barrier][word.parity]
        if not state.knows(strand, before):
            raise Unproved(Flaw.EARLY_WAIT.value, strand, step.point)
        _wait_polled(state, strand, barrier, step.parity)
    state.happen(step.event)
    state.clocks[strand] |= step.event
    word.waits |= step.event
    state.learn(strand, state.clocks.get(("published", barrier), 0), acquires=step.acquires, wide=step.wide)
    return DONE


def is_over(state: State, step: WaitStep) -> bool:
    """Tell whether a phase is over that is waited for by its parity."""
    word = state.words.get(step.barrier)
    return word is not None and word.is_live and step.parity is not None and word.parity != step.parity


def poll(state: State, strand: int, step: WaitStep) -> None:
    """Look at a phase and go on: the next wait of the strand for this parity has to be for the same phase."""
    assert step.parity is not None
    barrier = step.barrier
    word = _find(state, strand, barrier, step.point)
    is_over = word.parity != step.parity
    before = state.setup.completion[barrier][word.parity if is_over else word.parity ^ 1]
    if not state.knows(strand, before):
        raise Unproved(Flaw.EARLY_WAIT.value, strand, step.point)
    key = strand, barrier, step.parity
    state.polled[key] = state.polled.get(key, frozenset()) | {Poll(step.point, 0 if is_over else 1)}


def _end_polled(state: State, barrier: int, *, is_new: bool = False) -> None:
    """Note for polls that a phase has ended, or that the mbarrier is another one."""
    for key, polls in state.polled.items() if state.polled else ():
        if key[1] == barrier:
            state.polled[key] = frozenset(
                Poll(each.point, -1 if is_new else max(each.left - 1, -1)) for each in polls
            )


def _wait_polled(state: State, strand: int, barrier: int, parity: int) -> None:
    """Check that polls have looked at the phase that a wait is for."""
    polls = state.polled.pop((strand, barrier, parity), frozenset()) if state.polled else frozenset()
    for each in sorted(polls):
        if each.left:
            raise Unproved(OTHER_PHASE, strand, each.point)


def touch_objects(state: State, strand: int, objects: tuple[int, ...], point: int) -> None:
    """Note an access of bytes of mbarriers: those that are live may not be used again."""
    for barrier in objects:
        word = state.words.get(barrier)
        if word is not None and word.is_live and not word.is_overwritten:
            _check_users(state, strand, barrier, point)
            word.is_overwritten = True
            state.facts.take(BARRIER_LEFT, point)


# -- ends of phases


def balanced_by_host(state: State) -> tuple[int, ...]:
    """Return the mbarriers whose phase ends if the host says that its symbolic bytes balance."""
    return tuple(
        sorted(
            barrier for barrier, word in state.words.items()
            if word.is_live and word.pending <= 0 and word.has_transfers
            and isinstance(plus(word.expected, word.completed, -1), Form)
        )
    )  # fmt: skip


def end_by_host(state: State, barrier: int) -> None:
    """End a phase whose symbolic bytes balance if the host says so."""
    word = state.words[barrier]
    name = state.setup.barriers[barrier]
    equation = Equation(name, word.expected, word.completed)
    state.facts.equations.setdefault((name, str(word.expected), str(word.completed)), equation)
    _finish(state, barrier, word, -1, -1)


def check_rest(state: State) -> None:
    """Check phases that have not ended: in another schedule they may, before all their bytes have come."""
    for barrier, word in sorted(state.words.items()):
        if word.is_live and word.pending <= 0:
            _check_announced(state, barrier, word, -1, -1)
            if word.has_transfers:
                raise Unproved(Flaw.TX_MISMATCH.value, word.maker, -1)


def _complete_if_done(state: State, strand: int, barrier: int, word: Word, point: int) -> None:
    if word.pending <= 0 and plus(word.expected, word.completed, -1) == 0:
        _finish(state, barrier, word, strand, point)


def _finish(state: State, barrier: int, word: Word, strand: int, point: int) -> None:
    clocks, rows = state.clocks, state.setup.rows
    _check_announced(state, barrier, word, strand, point)
    known: Knowledge = 0
    for name in ("arrivals", "others"):
        known |= clocks.pop((name, barrier), 0)
    if word.raises:
        for slot in [slot for slot in clocks if isinstance(slot, tuple) and slot[:2] == ("raised", barrier)]:
            known |= clocks.pop(slot)
    clocks.pop(("last-to-come", barrier))
    clocks.pop(("transfers", barrier))
    known |= clocks.get(("published", barrier), 0) & rows.all
    if word.is_asynchronous:
        word.was_asynchronous = True
        known |= clocks.get(("work", barrier), 0)
    _check_waits(state, word.waits & ~known, strand, point)
    before, event = (
        state.setup.completion[barrier][word.parity ^ 1],
        state.setup.completion[barrier][word.parity],
    )
    if word.is_last_told and state.active & before:
        _tell_all(state, word.last, before)
    state.happen(event)
    clocks["published", barrier] = known | event
    word.parity ^= 1
    _end_polled(state, barrier)
    word.pending = word.count
    word.expected = word.completed = word.least_expected = 0
    word.last, word.is_last_told = word.now, not word.is_asynchronous
    word.last_commits, word.last_others, word.was_opaque = word.commits, word.others, word.is_opaque
    word.is_asynchronous = word.has_transfers = word.is_opaque = False
    word.now = word.others = word.expects = word.raises = word.not_last = word.waits = 0
    word.commits = frozenset()
    if word.tokens:
        word.tokens = {name: min(age + 1, 2) for name, age in word.tokens.items()}


def _check_waits(state: State, late: Bits, strand: int, point: int) -> None:
    """Check that those who may still be about to wait for the phase before only observe."""
    looks = state.setup.looks
    while late:
        bit = late & -late
        late ^= bit
        if bit not in looks:
            raise Unproved(Flaw.MISSED_PHASE.value, strand, point)
        state.facts.take(LATE_OBSERVER, looks[bit])


def _check_announced(state: State, barrier: int, word: Word, strand: int, point: int) -> None:
    """Check that the phase cannot end without its expected bytes and raised counts, nor by the wrong arrival."""
    clocks = state.clocks
    sure = clocks.get(("arrivals", barrier), 0)
    if word.expects | word.raises:
        waiting = word.raises
        raised = {
            slot: known for slot, known in clocks.items()
            if isinstance(slot, tuple) and slot[:2] == ("raised", barrier)
        } if waiting else {}  # fmt: skip
        names = {slot: state.setup.raise_of[barrier, slot[2]] for slot in raised}  # type: ignore[index]
        while held := [slot for slot in raised if names[slot] & sure]:
            for slot in held:
                sure |= raised.pop(slot)
        if raised:
            raise Unproved(f"{Flaw.LATE_EXPECT.value}: raised count", strand, point)
        late = word.expects & ~sure
        if late and (word.least_expected <= 0 or late & ~clocks.get(("transfers", barrier), 0)):
            raise Unproved(Flaw.LATE_EXPECT.value, strand, point)
    if word.not_last & ~clocks.get(("last-to-come", barrier), 0):
        raise Unproved(Flaw.OVER_ARRIVAL.value, strand, point)


def _tell_all(state: State, events: Bits, over: Bits) -> None:
    """Let all who know of some events know that something is over."""
    for slot, known in state.clocks.items():
        if not events & ~known and not known & over:
            state.clocks[slot] = known | over


# -- inside


def _find(state: State, strand: int, barrier: int, point: int) -> Word:
    """Return the mbarrier that somebody uses, and note the use."""
    word = state.words.get(barrier)
    if word is None or not word.is_live:
        raise Unproved(Flaw.UNINITIALISED.value, strand, point)
    known = state.clocks[strand]
    if not state.setup.rows.of(known, INITIALISED) & word.made:
        if not known & word.made or not word.is_fenced:
            raise Unproved(Flaw.UNORDERED_INIT.value, strand, point)
        state.facts.take(LATE_INIT, point)
    if word.is_overwritten:
        raise Unproved(Flaw.BARRIER_OVERWRITTEN.value, strand, point)
    use = state.setup.last_use.get((barrier, strand))
    if use is not None:
        state.happen(use)
        state.clocks[strand] |= use
    return word


def _check_users(state: State, strand: int, barrier: int, point: int) -> None:
    uses = 0
    for other in range(len(state.setup.strands)):
        uses |= state.setup.last_use.get((barrier, other), 0)
    if uses & state.active & ~state.clocks[strand]:
        raise Unproved(Flaw.EARLY_INVALIDATION.value, strand, point)


def _count(state: State, strand: int, word: Word, what: Count) -> Bits:
    """Let something count in the present phase; return its landmark."""
    event = what.events[word.parity]
    state.happen(event)
    word.now |= event
    return event


def _know(state: State, strand: int, what: Count, event: Bits) -> None:
    """Let a strand know of what it counts at once, and note an operation on an mbarrier of another CTA."""
    state.clocks[strand] |= event
    if what.far >= 0:
        state.clocks[strand] |= event * state.setup.rows.complete
        state.far[what.far] = state.far.get(what.far, 0) & ~(what.events[0] | what.events[1]) | event


def _take(word: Word, strand: int, count: int, point: int) -> None:
    word.pending -= count
    if word.pending < 0:
        raise Unproved(Flaw.OVER_ARRIVAL.value, strand, point)


def _announce(state: State, strand: int, word: Word, amount: Amount, point: int) -> None:
    word.expected = plus(word.expected, amount)
    if isinstance(word.expected, int) and not -MAX_COUNT <= word.expected <= MAX_COUNT:
        raise Unproved(Flaw.TX_RANGE.value, strand, point)


def _at_least(amount: Amount) -> int:
    """Return a number of bytes that an announcement does not fall below."""
    return amount if isinstance(amount, int) else -_UNBOUNDED


def _after_previous(state: State, strand: int, barrier: int, word: Word, point: int, flaw: Flaw) -> None:
    over = state.setup.completion[barrier][word.parity ^ 1]
    if state.knows(strand, over):
        return
    if word.is_last_told and not word.last & ~state.clocks[strand]:
        state.clocks[strand] |= over
        return
    raise Unproved(flaw.value, strand, point)


def _is_in_order(state: State, strand: int, barrier: int, word: Word, commits: tuple[int, str, int]) -> bool:
    """Tell whether only earlier arrivals by the same pipeline of a thread kept the phase before from its end."""
    over = state.setup.completion[barrier]
    if not state.active & over[word.parity ^ 1] or word.was_opaque or commits[2] != 1:
        return False
    return (
        word.last_commits <= {commits}
        and not word.last_others & ~state.clocks[strand]
        and state.knows(strand, over[word.parity])
    )


def _relaxed(state: State, strand: int, stamp: Knowledge) -> Knowledge:
    rows = state.setup.rows
    return stamp & rows.in_order | state.clocks.get(("released", strand), 0) & rows.memory


def _state_is_over(state: State, strand: int, word: Word, step: WaitStep) -> bool:
    age = word.tokens.get((strand, step.token))
    if age is None:
        if not state.setup.is_straight:
            raise Unproved("waits for the state of another's arrival", strand, step.point)
        others = {age for (_, number), age in word.tokens.items() if number == step.token}
        age = others.pop() if len(others) == 1 else None
    if age is None and (step.barrier, step.token) in state.setup.tokens:
        return False
    if age is None:
        raise Unproved(Flaw.UNINITIALISED.value, strand, step.point)
    if age > 1:
        raise Unproved(Flaw.MISSED_PHASE.value, strand, step.point)
    return age == 1
