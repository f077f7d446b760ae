"""Lives of mbarriers: from `mbarrier.init` to `mbarrier.inval`, or until their bytes are used for something else.

Property: without a problem, every use of an mbarrier comes after its initialisation in every schedule, with that
visible to it, and before its end; no place is initialised while it is live, or while work may complete on an earlier
mbarrier there.

Argument: a use knows the number of the initialising action of its maker, by the row INITIALISED. The end of a life
knows the last use by each strand (`users`). Asynchronous work is over with its phase, whose number the clock of who
initialises the place again must have.

Not covered: generic accesses whose bytes are not certain. Work that is outstanding at the end of a life is strict
alone: released kernels end that way. So is reuse of bytes behind the last use without `mbarrier.inval`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable

from ..model.actions import OBJECT_BYTES, Barrier, Init, Span
from ..model.outcome import MAX_COUNT, Flaw
from ..model.record import Record
from .actor import Actor
from .axioms import BARRIER_LEFT, LATE_INIT
from .clock import Components, Row
from .mbarrier_state import Mbarrier, note


class Lifetimes:
    """The live mbarriers of a schedule, and what has to be over before their bytes are used again."""

    def __init__(self, components: Components, record: Record) -> None:
        self._components = components
        self._record = record
        self.live: dict[Barrier, Mbarrier] = {}
        self._offsets: dict[int, list[int]] = {}
        """Places of the live mbarriers of each CTA, in order."""
        self._lived: dict[Barrier, int] = {}
        self._init_fences: set[int] = set()
        """Strands that have fenced initialisations."""
        self._outstanding: dict[Barrier, int] = {}
        """Places of invalidated mbarriers, with the phases that must be known to be over; -1: never."""

    def fence_inits(self, strand: int) -> None:
        """Note that a strand fences its initialisations."""
        self._init_fences.add(strand)

    def init(self, actor: Actor, action: Init) -> None:
        """Begin the life of an mbarrier."""
        if action.barrier in self.live:
            text = "initialised while it is live"
            note(self._record, Flaw.DOUBLE_INIT, actor, action.point, action.barrier, text, happened=True)
        self._check_place(actor, action.barrier, action.point)
        if not 1 <= action.count <= MAX_COUNT:
            text = f"an expected count of {action.count} is outside 1 to {MAX_COUNT}"
            note(self._record, Flaw.TX_RANGE, actor, action.point, action.barrier, text, happened=True)
        made = actor.number
        before = self.live.get(action.barrier)
        if before is not None:
            before.is_over = True
        else:
            insort(self._offsets.setdefault(action.barrier.cta, []), action.barrier.offset)
        self.live[action.barrier] = Mbarrier(
            action.count, action.count, actor.stamp, actor.strand, made, actor.strand in self._init_fences,
            self._lived.get(action.barrier, 0),
        )  # fmt: skip

    def invalidate(self, actor: Actor, name: Barrier, point: int) -> None:
        """End the life of an mbarrier."""
        barrier = self.find(actor, name, point)
        if barrier is not None:
            self._check_users(
                actor, name, barrier, point, "nothing orders the invalidation after its last use"
            )
            self._lived[name] = barrier.lived + barrier.phase
            self._check_outstanding(actor, name, barrier, point)
            barrier.is_over = True
            del self.live[name]
            self._offsets[name.cta].remove(name.offset)

    def find(self, actor: Actor, name: Barrier, point: int) -> Mbarrier | None:
        """Return the mbarrier that somebody uses, None when there is none; note what is wrong with the use."""
        barrier = self.live.get(name)
        if barrier is None:
            text = "used before it is initialised"
            note(self._record, Flaw.UNINITIALISED, actor, point, name, text, happened=True)
            return None
        if actor.clock[Row.INITIALISED, barrier.maker] < barrier.made:
            known = actor.clock[Row.EXECUTED, barrier.maker] >= barrier.made
            text = (
                "nothing makes the initialisation visible to this use" if known
                else "nothing orders this use after the initialisation"
            )  # fmt: skip
            self._record.add(
                Flaw.UNORDERED_INIT, actor.strand, point, name, -1, text, happened=True,
                related=((barrier.maker, point),), axiom=LATE_INIT if known and barrier.is_fenced else None,
            )  # fmt: skip
        if barrier.overwritten is not None:
            strand, where = barrier.overwritten
            text = "accesses the bytes of a live mbarrier, which is used again"
            self._record.add(
                Flaw.BARRIER_OVERWRITTEN, strand, where, name, barrier.phase, text, happened=True,
                related=((actor.strand, point),),
            )  # fmt: skip
        barrier.users[actor.strand] = actor.number
        return barrier

    def touch(self, actor: Actor, point: int, spans: Iterable[Span]) -> None:
        """Note an access of certain bytes. Those of a live mbarrier may be reused without invalidation after its
        last use, though the PTX ISA asks for one."""
        for span in spans:
            for name in self._live_in(span):
                barrier = self.live[name]
                if barrier.overwritten is not None:
                    continue
                barrier.overwritten = (actor.strand, point)
                text = "accesses the bytes of a live mbarrier, and nothing orders that after its last use"
                if self._check_users(actor, name, barrier, point, text):
                    text = "accesses the bytes of an mbarrier that is not invalidated"
                    self._record.add(
                        Flaw.BARRIER_OVERWRITTEN, actor.strand, point, name, barrier.phase, text, axiom=BARRIER_LEFT,
                        happened=True,
                    )  # fmt: skip

    def _live_in(self, span: Span) -> list[Barrier]:
        """Return the live mbarriers of which a span covers bytes."""
        places = self._offsets.get(span.cta)
        if places is None or not span.size:
            return []
        first = bisect_right(places, span.start - OBJECT_BYTES)
        last = bisect_left(places, span.end, lo=first)
        return [Barrier(span.cta, offset) for offset in places[first:last]]

    def _check_users(self, actor: Actor, name: Barrier, barrier: Mbarrier, point: int, text: str) -> bool:
        """Check that all that has been done to a barrier is known to have been; False when it is not."""
        for strand, last in sorted(barrier.users.items()):
            if strand != actor.strand and actor.clock[Row.EXECUTED, strand] < last:
                note(self._record, Flaw.EARLY_INVALIDATION, actor, point, name, text, barrier, happened=True,
                    related=((strand, point),),
                )  # fmt: skip
                return False
        return True

    def _check_outstanding(self, actor: Actor, name: Barrier, barrier: Mbarrier, point: int) -> None:
        """Note asynchronous work that may complete on a barrier when it is no more.

        Released kernels end that way. It is wrong where another mbarrier takes the place.
        """
        place = self._components.bytes_of(name)
        last = barrier.lived + barrier.last_asynchronous
        if barrier.now.is_asynchronous:
            self._outstanding[name] = -1
        elif place is not None and actor.clock[Row.EXECUTED, place] < last:
            self._outstanding[name] = last
        else:
            return
        text = "asynchronous work may complete on this mbarrier when it is invalidated"
        self._record.add(
            Flaw.EARLY_INVALIDATION,
            actor.strand,
            point,
            name,
            barrier.phase,
            text,
            happened=True,
            axiom=BARRIER_LEFT,
        )

    def _check_place(self, actor: Actor, name: Barrier, point: int) -> None:
        """Check that no work for an earlier mbarrier at the same place may be outstanding."""
        last = self._outstanding.pop(name, None)
        place = self._components.bytes_of(name)
        if last is not None and (last < 0 or place is None or actor.clock[Row.EXECUTED, place] < last):
            text = "asynchronous work for an earlier mbarrier at this place may complete on it"
            note(self._record, Flaw.EARLY_INVALIDATION, actor, point, name, text, happened=True)
