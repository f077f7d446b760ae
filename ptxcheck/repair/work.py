"""The work of a kernel: what its threads read, write, copy and multiply, and how often they wait.

A repair must not take work away. A proof alone does not see it: a kernel whose loop never turns is free of races and
deadlocks. So the kernel is run before and after for a few sizes, and what its statements do is counted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..explain.barrier_names import mbarriers_of
from ..opcodes.op import Op
from ..protocols.model.actions import (
    Access,
    Action,
    Arrive,
    AsyncArrive,
    Columns,
    Expect,
    Init,
    Protocol,
    Rendezvous,
    Span,
    Strand,
    TensorAccess,
    Transfer,
    Wait,
)
from ..protocols.model.outcome import Flaw
from ..protocols.proof.simulate import scheduled_steps
from ..protocols.symex.slice.polling import POLLS
from ..view import KernelView
from .trial import Runs

_SIZES = (4, 12)
"""Of the first number that the host passes, others are its multiples, so that ends lie behind starts. Even, as roles
share rounds, and the larger one beyond the depth of most rings."""
_IDLE = ((0, 0), (4, 0))
"""First number and further ones: nothing to do, and a first number alone."""
_MOST_TIMES = 4
"""Asynchronous work is not to be done so many times as often: by every lane instead of one."""
_ALIGNMENT = 4
"""Bytes, or columns, to which places are compared."""

_WORKING = (Arrive, AsyncArrive, Transfer, Access, TensorAccess)

Place = Span | Columns


@dataclass(slots=True)
class Work:
    """What the statements of one kernel do in one run, by operation, counted in threads."""

    done: Counter[Op] = field(default_factory=Counter)
    """Statements that read, write, copy or multiply."""
    remote: Counter[Op] = field(default_factory=Counter)
    """Accesses of shared memory of other CTAs, and arrivals there."""
    brought: Counter[Op] = field(default_factory=Counter)
    """Places that copies write, those of all CTAs together, where a copy writes several."""
    fed: Counter[Op] = field(default_factory=Counter)
    """Of which read what something has written before, in one schedule."""
    early: Counter[Op] = field(default_factory=Counter)
    """Of which read shared memory that something writes, but nothing has written before, in one schedule."""
    used: Counter[Op] = field(default_factory=Counter)
    """Of which write what something reads afterwards."""
    places: dict[Op, set[Place]] = field(default_factory=dict)
    """What they read and write."""
    copies: Counter[Op] = field(default_factory=Counter)
    """Asynchronous work among them."""
    points: dict[Op, set[int]] = field(default_factory=dict)
    """Where the statements are that are executed at all."""
    met: Counter[Op] = field(default_factory=Counter)
    """Arrivals, waits and barriers."""
    watched: Counter[Op] = field(default_factory=Counter)
    """Of these, those of threads that hand over nothing: they only wait."""
    leaves_late: bool = False
    """What such a thread waits for when it may be late is left out of the run (`late-bystander`)."""
    awaiting: int = 0
    """Threads that wait for bytes which copies bring."""
    barriers: int = 0
    """Places of initialised mbarriers at which something arrives, or for which somebody waits."""
    waiting: int = 0
    """Threads that wait for mbarriers and do something else, too."""
    reach: int = 0
    """Bytes of shared memory up to the last one that is used, where the launch says how many there are."""


@dataclass(slots=True)
class Workload:
    """The work of a kernel before it is patched, to compare patched ones with."""

    runs: Runs
    _known: dict[tuple[int, int | None], Work | None] = field(default_factory=dict)
    """By the first number and the further ones."""

    @staticmethod
    def of(view: KernelView) -> Workload:
        """Return the work of the kernel of a view."""
        return Workload(Runs(view))

    def is_lost(self, after: Runs) -> bool:
        """Tell whether a patched kernel does less than before, for some size.

        What reads, writes, copies or multiplies may not be executed by fewer threads or less often, bring less,
        or read less of what is written; copies may go that nothing reads. A statement that the patch itself
        changes may be executed less often, as long as it touches the same places. As many arrivals, waits and
        barriers have to come, and in each further round as many copies be read, where the patch leaves the
        statements of their operation as they are. No statement may be cut off, whether the patch changes it or
        not, and no mbarrier be left idle. Who waits for mbarriers and does something else has to wait for some;
        no more than half of the threads may stop waiting for what copies bring, no more than half of the
        arrivals stay in the own CTA, and no place start less aligned than those of its operation before, nor
        lie beyond all others where only the launch says how many there are. Asynchronous work may not be
        repeated by every lane, and not be done where there was none. A kernel that cannot be run loses nothing
        that is known.
        """
        changed = _changed(self.runs.view, after.view)
        pairs = []
        for size in _SIZES:
            old = self._before(size)
            new = None if old is None else _work(after, size)
            if old is not None and (new is None or _is_less(old, new, changed)):
                return True
            if old is not None and new is not None:
                pairs.append((old, new))
        if not pairs:
            return False
        if any(op not in changed for op in (*_less_used(pairs), *_less_met(pairs))):
            return True
        idle = self._idle(after)
        return _cuts_off(self.runs.view, after.view, (*pairs, *idle)) or any(
            not old.copies[op] for old, new in idle for op in new.copies
        )

    def reads_early(self, after: Runs) -> bool:
        """Tell whether a patched kernel reads shared memory that nothing has written yet, more often than before.

        Property: some run reads bytes that the kernel writes, and no write of them comes before the read.
        Argument: where no access races with another, each read and each write of the same bytes are ordered, in the
        same way in every schedule; so what comes first in one comes first in all. No property of verification asks for
        a write: a consumer that is let through by the phase before the first reads garbage in perfect order.
        Not covered: bytes of which only a part was written; what the kernel reads and never writes. Where writes are
        not followed this says too much, so it refuses patches and is no verdict.
        """
        for size in _SIZES:
            old, new = self._before(size), _work(after, size)
            if new is not None and any(n > (old.early[op] if old else 0) for op, n in new.early.items()):
                return True
        return False

    def _idle(self, after: Runs) -> list[tuple[Work, Work]]:
        """Return the work before and after where there is nothing to do."""
        found = []
        for size, rest in _IDLE:
            old = self._before(size, rest)
            new = None if old is None else _work(after, size, rest)
            if old is not None and new is not None:
                found.append((old, new))
        return found

    def _before(self, size: int, rest: int | None = None) -> Work | None:
        if (size, rest) not in self._known:
            self._known[size, rest] = _work(self.runs, size, rest)
        return self._known[size, rest]


_Pairs = Sequence[tuple[Work, Work]]


def _less_used(pairs: _Pairs) -> Iterator[Op]:
    """Yield operations whose results are read less often."""
    (first, first_now), (last, last_now) = pairs[0], pairs[-1]
    return _grows_less(first.used, last.used, first_now.used, last_now.used)


def _less_met(pairs: _Pairs) -> Iterator[Op]:
    """Yield arrivals, waits and barriers that are executed less often, round by round.

    A wait that is only asked about may go in one round, and an arrival with a copy that nothing reads.
    """
    leaves_late = any(new.leaves_late for _, new in pairs)

    def met(work: Work) -> Counter[Op]:
        return work.met - work.watched if leaves_late else work.met

    (first, first_now), (last, last_now) = pairs[0], pairs[-1]
    rounds = set(_grows_less(met(first), met(last), met(first_now), met(last_now)))
    fewer_copies = any(last_now.done[op] < last.done[op] for op in last.copies)
    excused = POLLS | ({Op.MBARRIER_ARRIVE, Op.MBARRIER_EXPECT_TX} if fewer_copies else set())
    for old, new in pairs:
        yield from (
            op for op, n in met(old).items() if met(new)[op] < n and (op in rounds or op not in excused)
        )


def _grows_less(
    first: Counter[Op], last: Counter[Op], first_now: Counter[Op], last_now: Counter[Op]
) -> Iterator[Op]:
    """Yield operations of which fewer are counted, and fewer more in more rounds: one more at an end means nothing."""
    for op, count in last.items():
        growth, growth_now = count - first[op], last_now[op] - first_now[op]
        if last_now[op] < count and (growth <= 0 or growth_now < growth):
            yield op


def _cuts_off(before: KernelView, after: KernelView, pairs: _Pairs) -> bool:
    """Tell whether more statements of some operation are never executed than before."""
    met = {op for pair in pairs for work in pair for op in work.points}
    old = _never_executed(before, [work for work, _ in pairs], met)
    new = _never_executed(after, [work for _, work in pairs], met)
    return any(new[op] > old[op] for op in met - POLLS)


def _never_executed(view: KernelView, works: Sequence[Work], ops: Iterable[Op]) -> Mapping[Op, int]:
    counts = Counter(each.operation.op for each in view.body.instructions)
    return {op: counts[op] - len({p for work in works for p in work.points.get(op, ())}) for op in ops}


def _is_less(old: Work, new: Work, changed: frozenset[Op]) -> bool:
    for op, places in old.places.items():
        if op in changed and new.done[op] < old.done[op] and not places <= new.places.get(op, set()):
            return True
    if any(count and new.copies[op] > _MOST_TIMES * count for op, count in old.copies.items()):
        return True
    if new.barriers < old.barriers or new.waiting < old.waiting or 2 * new.awaiting < old.awaiting:
        return True
    if any(2 * new.remote[op] < n for op, n in old.remote.items() if op not in changed):
        return True
    if new.reach > old.reach:
        return True
    if any(_alignment(new.places.get(op, ())) < _alignment(places) for op, places in old.places.items()):
        return True
    needed = Counter({op: old.used[op] or count for op, count in old.done.items()})
    kept = [(old.brought, new.brought), (old.fed, new.fed), (needed, new.done)]
    return any(now[op] < count for was, now in kept for op, count in was.items() if op not in changed)


def _alignment(places: Iterable[Place]) -> int:
    """Return the power of two, up to a bound, that all known places start at multiples of."""
    starts = [place.start for place in places if place.start >= 0]
    return math.gcd(_ALIGNMENT, *starts)


def _changed(before: KernelView, after: KernelView) -> frozenset[Op]:
    """Return the operations of which a statement was changed, put in or left out."""
    old, new = _statements(before), _statements(after)
    return frozenset(op for op, _ in ((old - new) + (new - old)))


def _statements(view: KernelView) -> Counter[tuple[Op, str]]:
    text = view.module.source.text
    return Counter((each.operation.op, text[each.start : each.end]) for each in view.body.instructions)


def work_of(view: KernelView, size: int) -> Work | None:
    """Return the work of a kernel when the host passes multiples of `size` as 32-bit numbers; None when not known."""
    return _work(Runs(view), size)


def _work(runs: Runs, size: int, rest: int | None = None) -> Work | None:
    run = runs.of(size, rest)
    if run is None or run.sample is None:
        return None
    work = _counted(runs.view, run.sample.protocol)
    work.leaves_late = any(p.flaw is Flaw.LATE_OBSERVER for each in run.strict for p in each.problems)
    return work


def _counted(view: KernelView, protocol: Protocol) -> Work:
    work = Work()
    moments = _moments(protocol)
    acts = [
        (moments.get((index, at), math.inf), action)
        for index, strand in enumerate(protocol.strands)
        for at, action in enumerate(strand.actions)
    ]
    written = _Places((place, moment) for moment, action in acts for place in writes_of(action))
    read = _Places((place, -moment) for moment, action in acts for place in reads_of(action))
    made = {a.barrier for _, a in acts if isinstance(a, Init)}
    used = {barrier for _, a in acts if not isinstance(a, Init) for barrier in mbarriers_of(a)}
    work.barriers = len({barrier.offset for barrier in made & used})
    variables = (*view.body.variables, *view.module.variables.values())
    if any(each.space == ".shared" and each.is_sized_elsewhere for each in variables):
        places = (place for _, action in acts for place in (*reads_of(action), *writes_of(action)))
        ends = (_end(each) for each in places if isinstance(each, Span))
        work.reach = max((*ends, *(barrier.offset for barrier in made)), default=0)
    brought = {target for _, a in acts if isinstance(a, Transfer) for target, _ in a.completes}
    for index, strand in enumerate(protocol.strands):
        if any(isinstance(action, Wait) and action.barrier in brought for action in strand.actions):
            work.awaiting += strand.threads
        if any(isinstance(action, Wait) for action in strand.actions):
            others = any(isinstance(action, _WORKING) for action in strand.actions)
            work.waiting += strand.threads if others else 0
        hands_over = any(isinstance(a, (*_WORKING, Expect)) for a in strand.actions)
        for at, action in enumerate(strand.actions):
            op = view.body.instructions[action.point].operation.op
            work.points.setdefault(op, set()).add(action.point)
            if isinstance(action, Transfer | Access | TensorAccess):
                _count(work, op, strand, action, moments.get((index, at), math.inf), written, read)
            elif isinstance(action, Wait | Rendezvous | Arrive | Expect | AsyncArrive):
                work.met[op] += strand.threads
                work.watched[op] += 0 if hands_over else strand.threads
                if not isinstance(action, Rendezvous) and action.barrier.cta != strand.cta:
                    work.remote[op] += strand.threads
    return work


def _moments(protocol: Protocol) -> dict[tuple[int, int], float]:
    """Return when each action of each strand comes in one schedule; without those that it does not come to."""
    found: dict[tuple[int, int], float] = {}
    for moment, step in enumerate(scheduled_steps(protocol)):
        found.setdefault((step.strand, step.index), moment)
    return found


def _count(
    work: Work,
    op: Op,
    strand: Strand,
    action: Action,
    moment: float,
    written: _Places,
    read: _Places,
) -> None:
    reads, writes = reads_of(action), writes_of(action)
    work.done[op] += strand.threads
    if isinstance(action, Transfer):
        work.copies[op] += strand.threads
    work.places.setdefault(op, set()).update((*reads, *writes))
    if isinstance(action, Transfer) and len(writes) > 1:
        work.brought[op] += strand.threads * len(writes)
    elif any(place.cta != strand.cta for place in (*reads, *writes)):
        work.remote[op] += strand.threads
    if any(written.has_before(place, moment) for place in reads):
        work.fed[op] += strand.threads
    if any(_is_early(place, moment, written) for place in reads if place not in writes):
        work.early[op] += strand.threads
    lives = not isinstance(action, TensorAccess) or bool(action.pipeline)
    if lives and any(read.has_before(place, -moment) for place in writes):
        work.used[op] += strand.threads


def _is_early(place: Place, moment: float, written: _Places) -> bool:
    """Tell whether bytes of shared memory are written, but not before a moment; one that never comes does not count."""
    return (
        isinstance(place, Span)
        and moment < math.inf
        and not written.has_before(place, moment)
        and written.has_before(place, math.inf)
    )


def reads_of(action: Action) -> tuple[Place, ...]:
    """Return what an action reads."""
    return action.reads if isinstance(action, Transfer | Access | TensorAccess) else ()


def writes_of(action: Action) -> tuple[Place, ...]:
    """Return what an action writes."""
    if isinstance(action, TensorAccess) and action.allocates:
        return ()
    return action.writes if isinstance(action, Transfer | Access | TensorAccess) else ()


class _Places:
    """Places of shared and of tensor memory, with the first moment of each."""

    def __init__(self, places: Iterable[tuple[Place, float]]) -> None:
        self._first: dict[object, dict[tuple[int, int], float]] = {}
        for place, moment in places:
            known = self._first.setdefault(_memory(place), {})
            key = place.start, _end(place)
            known[key] = min(moment, known.get(key, moment))
        self._found: dict[Place, float] = {}

    def has_before(self, place: Place, moment: float) -> bool:
        """Tell whether any of the bytes or columns of a place are in it, from before a moment."""
        found = self._found.get(place)
        if found is None:
            end = _end(place)
            intervals = self._first.get(_memory(place), {})
            found = min(
                (at for (a, b), at in intervals.items() if a < end and place.start < b), default=math.inf
            )
            self._found[place] = found
        return found < moment


def _end(place: Place) -> int:
    """Return where the bytes or columns end that may be touched, as far as something bounds them."""
    reach = place.reach if isinstance(place, Span) and not place.is_open else 0
    return place.start + max(place.size, reach)


def _memory(place: Place) -> object:
    return (place.cta, -1) if isinstance(place, Span) else (place.cta, place.origin)
