"""Ordinary accesses of shared memory put together: a quick look at a protocol.

Property: where the quick look finds no problem, the protocol has none in its accesses; where it finds one, it says
nothing, and the protocol itself is judged.

Argument: what a strand reads and writes between two of its other actions is known to others at the same moment, so one
access of all the bytes is ordered as each of its parts is. Two accesses that are one here meet whenever some of their
parts do, and none of the excuses that the parts may have holds for them. The same holds for operations of the matrix
unit that only read shared memory and follow each other: nothing is learned or told between them, they are in one
group, and all that ends one of them ends the others. The same instructions in the same order have one name in all
strands, as an excuse may be that two strands come to the same ones.

Not covered: writes that have excuses of their own, atomics and places that are not exact stay apart. Accesses that may
not happen are put together at first; where the quick look is in doubt then, each of them is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from ..model.actions import (
    Access,
    Action,
    Protocol,
    Strand,
    TensorAccess,
    Transfer,
)
from ..model.lowering import merged
from ..model.outcome import Outcome, Problem
from ..order.extents import MATRIX_PIPELINES
from .lockstep_lanes import without_late_lanes
from .simulate import simulate

_FIRST = -2
"""Points of what was put together: none of an instruction."""


def examined(
    protocol: Protocol,
    examine: Callable[[Protocol], Outcome],
    are_told: Callable[[Sequence[Problem]], bool] = lambda problems: not problems,
    is_late: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Return what is known of all schedules of a protocol: by a quick look if that is enough, else by `examine`.

    The steps of an outcome without problems are those of the protocol with accesses put together. Problems of
    instructions that were told before are left out where the quick look finds no others.
    """
    quick_look = _QuickLook(joins_possible=True)
    outcome = _looked_at(protocol, quick_look, is_late)
    if (
        outcome is not None
        and (outcome.memory_doubts or outcome.exit_doubts)
        and not outcome.problems
        and quick_look.has_joined_possible
    ):
        quick_look = _QuickLook(joins_possible=False)
        outcome = _looked_at(protocol, quick_look, is_late)
    if outcome is None or any(each.point <= _FIRST for each in outcome.problems):
        return examine(protocol)
    if not are_told(outcome.problems):
        return examine(protocol)
    doubts, exits = (
        tuple(replace(each, point=quick_look.origin(each.point)) for each in found)
        for found in (outcome.memory_doubts, outcome.exit_doubts)
    )
    strict = tuple(_placed(problem, quick_look) for problem in outcome.strict)
    return replace(outcome, problems=(), memory_doubts=doubts, exit_doubts=exits, strict=strict)


def _looked_at(protocol: Protocol, quick_look: _QuickLook, is_late: Callable[[], bool]) -> Outcome | None:
    """Return what is known of a protocol with its accesses put together, None when there are none to put together."""
    strands = tuple(quick_look.of(strand, index) for index, strand in enumerate(protocol.strands))
    if all(len(one.actions) == len(own.actions) for one, own in zip(strands, protocol.strands, strict=True)):
        return None
    quick = replace(protocol, strands=strands)
    return without_late_lanes(quick, simulate(quick, is_late=is_late), is_late)


def without_accesses(protocol: Protocol) -> Protocol:
    """Return a protocol without ordinary accesses of shared memory."""
    return replace(
        protocol,
        strands=tuple(
            _with(strand, ((a, e) for a, e in _numbered(strand) if not isinstance(a, Access)))
            for strand in protocol.strands
        ),
    )


def _numbered(strand: Strand) -> Iterator[tuple[Action, int]]:
    return zip(strand.actions, strand.events or (-1,) * len(strand.actions), strict=True)


def _with(strand: Strand, numbered: Iterable[tuple[Action, int]]) -> Strand:
    kept = tuple(numbered)
    events = tuple(event for _, event in kept) if strand.events else ()
    return replace(strand, actions=tuple(action for action, _ in kept), events=events)


class _QuickLook:
    """What is put together in the strands of one protocol."""

    def __init__(self, *, joins_possible: bool) -> None:
        self._joins_possible = joins_possible
        """Accesses that may not happen are put together, too."""
        self.has_joined_possible = False
        self._names: dict[object, int] = {}
        self._origins: list[int] = []
        self._transfers: dict[tuple[int, ...], Transfer] = {}
        """By the identities of the operations that are one."""
        self._accesses: dict[tuple[int, ...], tuple[tuple[Access, int], ...]] = {}
        """What stands for accesses of a strand, with the place of the last of them; by their identities."""
        self._kinds: dict[int, tuple[bool, bool]] = {}
        """By the identity of an access: may it be put together with others, and may it stand behind what is?"""

    def of(self, strand: Strand, index: int) -> Strand:
        """Return a strand with its accesses put together."""
        return _with(strand, self._joined(strand, index))

    def origin(self, point: int) -> int:
        """Return the point of the first instruction that was put together with others at a point."""
        return self._origins[_FIRST - point] if point <= _FIRST else point

    def _point(self, name: object, first: int) -> int:
        """Return the point of what is put together under a name, from an instruction on."""
        number = self._names.setdefault(name, len(self._names))
        if number == len(self._origins):
            self._origins.append(first)
        return _FIRST - number

    def _joined(self, strand: Strand, index: int) -> Iterator[tuple[Action, int]]:
        waiting: list[tuple[Access, int]] = []
        for action, event in self._with_reads_together(strand):
            if isinstance(action, Access) and self._may_wait(action):
                waiting.append((action, event))
                continue
            yield from self._as_one(waiting, index)
            waiting = []
            yield action, event
        yield from self._as_one(waiting, index)

    def _may_wait(self, access: Access) -> bool:
        """Tell whether an access may be put together with others, or stand behind what is: not a write with excuses."""
        return self._kind(access)[1]

    def _is_joined(self, access: Access) -> bool:
        return self._kind(access)[0]

    def _kind(self, access: Access) -> tuple[bool, bool]:
        known = self._kinds.get(id(access))
        if known is None:
            is_joined = (
                _is_exact(access)
                and not (access.stored or access.refused)
                and (access.certain or self._joins_possible)
            )
            may_wait = not (access.combines or access.blocks or access.refused) and (
                is_joined or not access.writes
            )
            known = self._kinds[id(access)] = is_joined, may_wait
        return known

    def _as_one(self, accesses: list[tuple[Access, int]], index: int) -> Iterator[tuple[Action, int]]:
        """Yield what stands for accesses that follow each other."""
        if len(accesses) < 2:
            yield from accesses
            return
        key = (index, *(id(access) for access, _ in accesses))
        found = self._accesses.get(key)
        if found is None:
            found = self._accesses[key] = tuple(self._put_together([each for each, _ in accesses], index))
        for access, place in found:
            yield access, accesses[place][1]

    def _put_together(self, accesses: list[Access], index: int) -> Iterator[tuple[Access, int]]:
        """Yield one access of all certain reads and one of all certain writes, the same of those that may not happen,
        and other reads.
        """
        first, last = accesses[0].point, len(accesses) - 1
        point = self._point((first, "of", index), first)
        for certain in (True, False):
            joined = [each for each in accesses if each.certain is certain and self._is_joined(each)]
            self.has_joined_possible |= not certain and len(joined) > 1
            reads = {span for access in joined for span in access.reads}
            writes = {span for access in joined for span in access.writes}
            if reads:
                yield Access(point, reads=tuple(merged(reads)), certain=certain), last
            if writes:
                yield Access(point, writes=tuple(merged(writes)), certain=certain), last
        rest: dict[tuple[object, ...], tuple[Access, int]] = {}
        for place, access in enumerate(accesses):
            if not self._is_joined(access):
                rest.setdefault((access.reads, access.certain), (access, place))
        yield from rest.values()

    def _with_reads_together(self, strand: Strand) -> Iterator[tuple[Action, int]]:
        """Yield the actions of a strand, with matrix operations that follow each other as one that reads for all."""
        waiting: list[tuple[Transfer, int]] = []
        between: list[tuple[Action, int]] = []
        """Work on tensor memory behind the first that waits."""
        for action, event in _numbered(strand):
            if isinstance(action, Transfer) and _only_reads(action):
                if waiting and (waiting[0][0].pipeline, waiting[0][0].proxy) != (
                    action.pipeline,
                    action.proxy,
                ):
                    yield from (*between, self._as_one_transfer(waiting))
                    waiting, between = [], []
                waiting.append((action, event))
            elif waiting and isinstance(action, TensorAccess):
                between.append((action, event))
            else:
                if waiting:
                    yield from (*between, self._as_one_transfer(waiting))
                    waiting, between = [], []
                yield action, event
        if waiting:
            yield from (*between, self._as_one_transfer(waiting))

    def _as_one_transfer(self, transfers: list[tuple[Transfer, int]]) -> tuple[Transfer, int]:
        (first, _), (_, last) = transfers[0], transfers[-1]
        if len(transfers) == 1:
            return first, last
        key = tuple(id(transfer) for transfer, _ in transfers)
        found = self._transfers.get(key)
        if found is None:
            reads = dict.fromkeys(span for transfer, _ in transfers for span in transfer.reads)
            point = self._point(tuple(transfer.point for transfer, _ in transfers), first.point)
            found = self._transfers[key] = replace(first, point=point, reads=tuple(reads))
        return found, last


def _only_reads(action: Transfer) -> bool:
    return action.pipeline in MATRIX_PIPELINES and not action.completes and not action.writes


def _is_exact(access: Access) -> bool:
    return all(span.exact for span in (*access.reads, *access.writes))


def _placed(problem: Problem, quick_look: _QuickLook) -> Problem:
    """Return a problem at instructions of the kernel."""
    related = tuple((strand, quick_look.origin(point)) for strand, point in problem.related)
    return replace(problem, point=quick_look.origin(problem.point), related=related)
