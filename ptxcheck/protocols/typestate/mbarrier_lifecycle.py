"""The life of mbarrier objects on the paths of one thread: initialised, used, invalidated, storage reused.

Property: each `Breach` is on a feasible path of one thread on which nothing else can have put the object into
the right state: no operation of unknown address, no call that may touch barriers, and no synchronisation with
other threads where one of them could have done it. Only objects with constant addresses are followed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ...opcodes.op import Op
from ...opcodes.spec import Trait
from .barriers import Role, find_barriers
from .paths import Paths, Query
from .places import Place
from .shared_access import find_shared_accesses

if TYPE_CHECKING:
    from ...view import KernelView


@dataclass(frozen=True, slots=True)
class Breach:
    """An operation or access at `point` that finds the object in the wrong state because of `cause`."""

    point: int
    place: Place
    cause: int | None = None


@dataclass(frozen=True)
class Lifecycle:
    """Breaches of one kernel, by kind; each object is reported once a kind."""

    never_initialised: tuple[Breach, ...]
    """Used though nothing in the kernel initialises it."""
    used_too_early: tuple[Breach, ...]
    """Used by a thread that neither initialised it nor waited for any other thread; `cause` initialises."""
    repeated: tuple[Breach, ...]
    """Initialised while alive; `cause` is the initialisation before."""
    used_after_inval: tuple[Breach, ...]
    overwritten: tuple[Breach, ...]
    """Bytes of a live object accessed by something else; `cause` initialises."""


def find_lifecycle(view: KernelView) -> Lifecycle:
    """Return the breaches of one kernel."""
    search = _Search(view)
    if not view.get(find_barriers).complete:
        return Lifecycle((), (), (), (), ())
    return Lifecycle(
        tuple(search.never_initialised()),
        tuple(search.used_too_early()),
        tuple(search.repeated()),
        tuple(search.used_after_inval()),
        tuple(search.overwritten()),
    )


class _Search:
    def __init__(self, view: KernelView) -> None:
        self._view = view
        self._barriers = view.get(find_barriers)
        self._invals = self._barriers.having(Role.INVAL)

    def never_initialised(self) -> Iterator[Breach]:
        if self._barriers.unknown:
            return
        for place in self._barriers.objects:
            uses = [u for u in self._barriers.uses if u.role is not Role.INIT and u.is_at(place)]
            if uses and not self._barriers.maybe_at(place, self._barriers.inits):
                yield Breach(uses[0].point, place)

    def used_too_early(self) -> Iterator[Breach]:
        for place in self._barriers.objects:
            inits = self._barriers.maybe_at(place, self._barriers.inits)
            early = self._barriers.at(place, [u for u in self._barriers.uses if u.role is not Role.INIT])
            if not inits or not early:
                continue
            barred = inits | self._barriers.unknown | (self._meetings - early)
            found = self._view.get(Paths.of).find(Query(None, early, barred))
            if found is not None:
                yield Breach(found.then, place, min(inits))

    def repeated(self) -> Iterator[Breach]:
        for place in self._barriers.objects:
            inits = self._barriers.at(place, self._barriers.inits)
            if len(inits) > 1 or any(self._view.cfg.loop_of(point) is not None for point in inits):
                yield from self._again(place, inits, inits, self._barriers.maybe_at(place, self._invals))

    def used_after_inval(self) -> Iterator[Breach]:
        for place in self._barriers.objects:
            invals = self._barriers.at(place, self._invals)
            uses = [u for u in self._barriers.uses if u.role is not Role.INIT]
            ended_by = self._barriers.maybe_at(place, self._barriers.inits)
            if invals:
                yield from self._again(place, invals, self._barriers.at(place, uses), ended_by)

    def overwritten(self) -> Iterator[Breach]:
        if not self._barriers.inits:
            return
        accesses = [access for access in self._view.get(find_shared_accesses) if access.place is not None]
        for place in self._barriers.objects:
            inits = self._barriers.at(place, self._barriers.inits)
            over = frozenset(access.point for access in accesses if access.covers(place))
            if inits and over:
                yield from self._again(place, inits, over, self._barriers.maybe_at(place, self._invals))

    def _again(
        self, place: Place, first: frozenset[int], then: frozenset[int], ended_by: frozenset[int]
    ) -> Iterator[Breach]:
        """Yield a path from `first` to `then` on which no thread can have ended what `first` began."""
        barred = ended_by | self._barriers.unknown
        if any(self._view.cfg.reaches(p, q) for p in first for q in ended_by):
            barred |= self._meetings - then
        found = self._view.get(Paths.of).find(Query(first, then, barred))
        if found is not None:
            yield Breach(found.then, place, found.first)

    @cached_property
    def _meetings(self) -> frozenset[int]:
        """Points after which other threads' work may be seen."""
        instructions = self._view.body.instructions
        return frozenset(p for p, i in enumerate(instructions) if _meets(i.operation.op, i.operation.traits))


_LONELY = frozenset(
    {Op.GRIDDEPCONTROL_WAIT, Op.CP_ASYNC_WAIT_GROUP, Op.CP_ASYNC_WAIT_ALL, Op.CP_ASYNC_BULK_WAIT_GROUP}
)
"""Waits that order a thread with no other thread of its CTA."""
_MEETING = frozenset({Trait.BARRIER, Trait.WAIT, Trait.COLLECTIVE, Trait.ATOMIC, Trait.CALL, Trait.ANYTHING})


def _meets(op: Op, traits: frozenset[Trait]) -> bool:
    if op in _LONELY:
        return False
    return bool(traits & _MEETING) or (Trait.LOAD in traits and Trait.VOLATILE in traits)


__all__ = ["Breach", "Lifecycle", "find_lifecycle"]
