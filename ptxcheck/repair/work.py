"""The work of a kernel: what its threads read, write, copy and multiply, and how often they wait.

A repair must not take work away. A proof alone does not see it: a kernel whose loop never turns is free of races and
deadlocks. So the kernel is run before and after for a few sizes, and what its statements do is counted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from ..ir import Function
from ..launch import GivenValue, Launch
from ..op import Op
from ..protocols.actions import (
    Access,
    Action,
    Arrive,
    AsyncArrive,
    Columns,
    Expect,
    Protocol,
    Rendezvous,
    Span,
    Strand,
    TensorAccess,
    Transfer,
    Wait,
)
from ..protocols.simulate import simulate
from ..protocols.verify import Verification, verify
from ..view import KernelView

_SIZES = (4, 12)
"""Of the first number that the host passes, others are its multiples, so that ends lie behind starts. Even, as roles
share rounds, and the larger one beyond the depth of most rings."""
_SECONDS = 0.5
_MOST_TIMES = 4
"""Asynchronous work is not to be done so many times as often: by every lane instead of one."""
_WORD = 4
_NUMBERS = frozenset({".u32", ".s32", ".b32"})

Place = Span | Columns


@dataclass(slots=True)
class Work:
    """What the statements of one kernel do in one run, by operation, counted in threads."""

    done: Counter[Op] = field(default_factory=Counter)
    """Statements that read, write, copy or multiply."""
    remote: Counter[Op] = field(default_factory=Counter)
    """Of which touch shared memory of another CTA, and arrivals there."""
    fed: Counter[Op] = field(default_factory=Counter)
    """Of which read what something has written before, in one schedule."""
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


@dataclass(slots=True)
class Workload:
    """The work of a kernel before it is patched, to compare patched ones with."""

    view: KernelView
    _known: dict[int, Work | None] = field(default_factory=dict)
    """By size."""

    def is_lost(self, after: KernelView) -> bool:
        """Tell whether a patched kernel does less than before, for some size.

        What reads, writes, copies or multiplies may not be executed by fewer threads or less often, reach fewer bytes
        of other CTAs, or read less of what is written; a statement that the patch itself changes may be executed less
        often, as long as it touches the same places. Arrivals, waits and barriers may not be executed less often where
        the patch leaves the statements of their operation as they are, and no such statement may be cut off.
        Asynchronous work may not be repeated by every lane. A kernel that cannot be run loses nothing that is known.
        """
        changed = _changed(self.view, after)
        for size in _SIZES:
            if size not in self._known:
                self._known[size] = work_of(self.view, size)
            old = self._known[size]
            new = None if old is None else work_of(after, size)
            if old is not None and (new is None or _is_less(old, new, changed)):
                return True
        return False


def _is_less(old: Work, new: Work, changed: frozenset[Op]) -> bool:
    for op, places in old.places.items():
        if op in changed and new.done[op] < old.done[op] and not places <= new.places.get(op, set()):
            return True
    if any(count and new.copies[op] > _MOST_TIMES * count for op, count in old.copies.items()):
        return True
    if any(len(new.points.get(op, ())) < len(n) for op, n in old.points.items() if op not in changed):
        return True
    kept = [(old.remote, new.remote), (old.fed, new.fed), (old.used, new.used), (old.done, new.done)]
    fewer = (op for was, now in kept for op, count in was.items() if now[op] < count)
    if any(op not in changed for op in fewer):
        return True
    return any(new.met[op] < count for op, count in old.met.items() if op not in changed)


def _changed(before: KernelView, after: KernelView) -> frozenset[Op]:
    """Return the operations of which a statement was changed, put in or left out."""
    old, new = _statements(before), _statements(after)
    return frozenset(op for op, _ in ((old - new) + (new - old)))


def _statements(view: KernelView) -> Counter[tuple[Op, str]]:
    text = view.module.source.text
    return Counter((each.operation.op, text[each.start : each.end]) for each in view.body.instructions)


def work_of(view: KernelView, size: int) -> Work | None:
    """Return the work of a kernel when the host passes multiples of `size` as 32-bit numbers; None when not known."""
    run = _run(view, size)
    return None if run is None or run.sample is None else _counted(view, run.sample.protocol)


def _run(view: KernelView, size: int) -> Verification | None:
    launch = replace(view.launch, given=(*view.launch.given, *_given(view.function, view.launch, size)))
    try:
        return verify(view.cfg, view.function, view.module, launch, seconds=_SECONDS)
    except Exception:  # the verifier's own failures are part of the judgement of the kernel
        return None


def _given(function: Function, launch: Launch, size: int) -> Iterator[GivenValue]:
    known = {value.offset for value in launch.given}
    numbers = [
        (offset, parameter.name)
        for offset, length, parameter in function.parameter_places
        if length == _WORD and parameter.type in _NUMBERS and offset not in known
    ]
    for rank, (offset, name) in enumerate(numbers, 1):
        yield GivenValue(name, rank * size, offset, _WORD)


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
    for index, strand in enumerate(protocol.strands):
        for at, action in enumerate(strand.actions):
            op = view.body.instructions[action.point].operation.op
            work.points.setdefault(op, set()).add(action.point)
            if isinstance(action, Transfer | Access | TensorAccess):
                _count(work, op, strand, action, moments.get((index, at), math.inf), written, read)
            elif isinstance(action, Wait | Rendezvous | Arrive | Expect | AsyncArrive):
                work.met[op] += strand.threads
                if not isinstance(action, Rendezvous) and action.barrier.cta != strand.cta:
                    work.remote[op] += strand.threads
    return work


def _moments(protocol: Protocol) -> dict[tuple[int, int], float]:
    """Return when each action of each strand comes in one schedule; without those that it does not come to."""
    found: dict[tuple[int, int], float] = {}
    for moment, step in enumerate(simulate(protocol).steps):
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
    if any(place.cta != strand.cta for place in (*reads, *writes)):
        work.remote[op] += strand.threads
    if any(written.has_before(place, moment) for place in reads):
        work.fed[op] += strand.threads
    if any(read.has_before(place, -moment) for place in writes):
        work.used[op] += strand.threads


def reads_of(action: Action) -> tuple[Place, ...]:
    """Return what an action reads."""
    return action.reads if isinstance(action, Transfer | Access | TensorAccess) else ()


def writes_of(action: Action) -> tuple[Place, ...]:
    """Return what an action writes."""
    return action.writes if isinstance(action, Transfer | Access | TensorAccess) else ()


class _Places:
    """Places of shared and of tensor memory, with the first moment of each."""

    def __init__(self, places: Iterable[tuple[Place, float]]) -> None:
        self._first: dict[object, dict[tuple[int, int], float]] = {}
        for place, moment in places:
            known = self._first.setdefault(_memory(place), {})
            key = place.start, place.start + place.size
            known[key] = min(moment, known.get(key, moment))
        self._found: dict[Place, float] = {}

    def has_before(self, place: Place, moment: float) -> bool:
        """Tell whether any of the bytes or columns of a place are in it, from before a moment."""
        found = self._found.get(place)
        if found is None:
            end = place.start + place.size
            intervals = self._first.get(_memory(place), {})
            found = min(
                (at for (a, b), at in intervals.items() if a < end and place.start < b), default=math.inf
            )
            self._found[place] = found
        return found < moment


def _memory(place: Place) -> object:
    return (place.cta, -1) if isinstance(place, Span) else (place.cta, place.origin)
