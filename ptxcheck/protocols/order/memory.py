"""Slot safety: conflicting accesses of the same bytes of shared memory are ordered, through the right proxies.

Property: where `Memory.check` reports nothing and leaves nothing in doubt, the later of two accesses of the same bytes,
one of them a write and not both atomic, comes after the earlier one in every schedule, and sees what it wrote.

Argument: each access is a *touch*: which bytes, read or written, by whom, through which proxy, and the component of the
clock that tells when it is over. All pairs of touches in one schedule are compared (`conflicts`); what is wrong
between two of them is in `races`, and what hardware orders all the same, which is *strict*, in `hardware_order`.
Touches with certain bytes give problems, and each is a race in the schedule at hand, so it is demonstrated. Bytes that
a touch may reach beyond them, up to the end of its slot (`extents`), give doubts.

Not covered: lanes that act as one strand, among themselves (`lane_order`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ..model.actions import Access, Init, Protocol, Span, Transfer
from ..model.bulk_copy import LEAST_BYTES
from ..model.outcome import Doubt, Flaw, Proviso, SharedByte
from ..model.record import Record
from ..symex.values.trace import OFFSET_MASK, RANK_SHIFT, OutOfTimeError
from .axioms import LANES_IN_STEP
from .clock import Component
from .conflicts import (
    Column,
    Filter,
    Numbers,
    Pairs,
    Place,
    Report,
    Spans,
    Told,
    Touch,
    Truths,
    columns_of,
    compare,
)
from .copy_extents import within_slots
from .extents import MATRIX_PIPELINES, provisos, reached, sized, slot_starts
from .hardware_order import HardwareOrder
from .proxy_fence_scope import UNFENCED, unfenced_far_writes
from .races import Races

_BUDGET = 2_000_000
_PAIRS_BETWEEN = 64
"""Pairs looked at between two questions whether there is effort left."""
_MOST_DOUBTFUL = 10_000
"""Pairs that may meet and are in doubt which are told apart."""
FILLED = "each tile that is multiplied is filled by the copies that start in it"
_IN_STEP_WHEREVER = (
    "lanes of a warp run in step between accesses of shared memory of which it is not known whether they meet"
)
_DIFFERENT = "threads store different numbers to the same bytes by one instruction: which one stays is open"
_STORED_FOR = ": the copy reads what is stored from its first byte on, and nothing else does"


class Memory:
    """Touches of all shared memory in one schedule, in its order."""

    def __init__(
        self,
        protocol: Protocol,
        record: Record,
        shared_work: Mapping[Component, Component] | None = None,
        is_late: Callable[[], bool] = lambda: False,
    ) -> None:
        """`shared_work`: for components of work that a warpgroup does together, those that waits of any warp raise."""
        self._protocol = protocol
        self._is_late = is_late
        self._pairs = 0
        """Pairs that were looked at."""
        self._races = Races(protocol, shared_work)
        self._hardware = HardwareOrder(protocol, self._races)
        self._record = record
        self._touches: list[Touch] = []
        self._doubts: dict[str, Doubt] = {}
        self._budget = _BUDGET
        self._doubtful = 0
        """Pairs in doubt that were looked at."""
        self._rests_on_lanes = False
        """Some accesses that may meet are in order only where lanes of a warp run in step."""
        self._barriers = {
            action.barrier
            for strand in protocol.strands
            for action in strand.actions
            if isinstance(action, Init)
        }
        self._ahead: dict[tuple[int, int], Touch] = {}
        """Accesses of lanes that come before what other lanes of the warp have done by then where they run in step."""

    def add(self, touch: Touch) -> None:
        self._touches.append(touch)

    def check(
        self, sizes: Mapping[tuple[int, int], int], most: Callable[[], Mapping[tuple[int, int], int]] = dict
    ) -> tuple[tuple[Doubt, ...], tuple[Proviso, ...]]:
        """Check all touches; return what remains in doubt, and on which facts the rest depends.

        `sizes` gives bytes that transfers (by strand and number of action) are known to move by equations, `most` bytes
        that they move at most; it is asked when it matters. Raises OutOfTimeError.
        """
        touches = [sized(touch, sizes) for touch in self._touches] if sizes else self._touches
        unknown = {id(touch.spans) for touch in touches if any(span.start < 0 for span in touch.spans)}
        for touch in touches:
            if id(touch.spans) in unknown:
                self._doubt("where an access of shared memory lies is not known", touch.point)
        placed = [touch for touch in touches if id(touch.spans) not in unknown]
        columns = columns_of(placed)
        certain = np.array([touch.certain for touch in placed], dtype=np.bool_)
        self._compare(
            [touch for touch in placed if touch.certain], columns[:, certain], self._report, self._races.among
        )
        self._check_ahead([touch for touch in placed if touch.certain])
        self._check_stores(placed)
        for point in unfenced_far_writes(self._protocol, placed):
            self._doubt(UNFENCED, point)
        if all(touch.is_exact for touch in placed):
            return tuple(self._doubts.values()), provisos(placed, self._barriers)
        known = dict(self._doubts)
        starts = slot_starts(self._protocol, placed)
        slots = within_slots(self._protocol, starts, MATRIX_PIPELINES)
        self._compare_possible(placed, columns, starts, slots)
        facts = provisos(placed, self._barriers)
        limits = most() if len(self._doubts) > len(known) else {}
        if limits:
            self._doubts = known
            both = {place: min(limits.get(place, size), size) for place, size in slots.items()}
            self._compare_possible(placed, columns, starts, {**limits, **both})
            facts += (Proviso(FILLED),)
        if self._rests_on_lanes:
            facts += (Proviso(_IN_STEP_WHEREVER),)
        return tuple(self._doubts.values()), facts

    def _compare_possible(
        self,
        touches: Sequence[Touch],
        columns: Numbers,
        starts: Mapping[int, Sequence[int]],
        most: Mapping[tuple[int, int], int],
    ) -> None:
        """Compare touches on all bytes that they may reach."""
        self._doubtful = 0
        places = reached(touches, starts, most)
        loose = {spans for touch, spans in zip(touches, places, strict=True) if not touch.is_exact}
        self._compare(
            touches, columns, self._report_possible, self._possible_races, places, loose.__contains__
        )

    # -- comparison

    def _compare(
        self,
        touches: Sequence[Touch],
        columns: Numbers,
        report: Report,
        matters: Filter,
        places: Sequence[Spans] | None = None,
        concerns: Callable[[Spans], bool] = lambda _: True,
    ) -> None:
        """Compare touches on all bytes that some group of spans covers that is of concern."""
        self._budget, left = compare(
            touches,
            lambda earlier, later, place: self._looked_at(report, earlier, later, place),
            self._budget,
            columns=columns,
            places=places,
            concerns=concerns,
            matters=matters,
        )
        if left is not None:
            self._doubt("more accesses of shared memory than the budget allows", left.point)

    def _looked_at(self, report: Report, earlier: Touch, later: Touch, place: Place) -> Told:
        self._pairs += 1
        if not self._pairs % _PAIRS_BETWEEN and self._is_late():
            raise OutOfTimeError
        return report(earlier, later, place)

    def _possible_races(self, pairs: Pairs) -> Truths:
        """Tell which pairs are races of which one may touch other bytes than are certain."""
        found: Truths = pairs.of_earlier(Column.EXACT) & pairs.of_later(Column.EXACT) == 0
        found[found] = self._races.among(pairs.among(found))
        return found

    def _report(self, earlier: Touch, later: Touch, place: Place) -> Told:
        race = self._hardware.race(earlier, later)
        if race is None:
            return Told.FINE
        cta, offset = place
        if race.axiom is not None and self._hardware.is_ahead(earlier, later):
            self._ahead.setdefault((earlier.strand, earlier.index), earlier)
        self._record.add(
            race.flaw,
            later.strand,
            later.point,
            SharedByte(cta, offset),
            -1,
            f"{race.detail} (shared memory {offset:#x} of CTA {cta}){self._told_by_stores(earlier, later, offset)}",
            happened=True,
            related=((earlier.strand, earlier.point),),
            axiom=race.axiom,
        )
        return Told.WRONG if race.axiom is None else self._hardware.let_pass(earlier, later)

    def _check_stores(self, touches: Sequence[Touch]) -> None:
        """Report stores by which threads of one strand leave open which of their numbers stays."""
        for touch in touches:
            action = self._protocol.strands[touch.strand].actions[touch.index]
            if touch.writes and isinstance(action, Access) and action.collides:
                places = Counter(place for place, _ in action.stored)
                place = min(place for place, count in places.items() if count > 1)
                cta, offset = place >> RANK_SHIFT, place & OFFSET_MASK
                self._record.add(
                    Flaw.WRITES_COLLIDE,
                    touch.strand,
                    touch.point,
                    SharedByte(cta, offset),
                    -1,
                    f"{_DIFFERENT} (shared memory {offset:#x} of CTA {cta})",
                    happened=True,
                    related=((touch.strand, touch.point),),
                )

    def _told_by_stores(self, earlier: Touch, later: Touch, offset: int) -> str:
        """Return what is to be said where one of two touches is known to reach some bytes by what is stored there."""
        for touch in (earlier, later):
            action = self._protocol.strands[touch.strand].actions[touch.index]
            is_told = isinstance(action, Transfer) and action.told_by_stores and not touch.writes
            if is_told and offset >= touch.spans[0].start + LEAST_BYTES:
                return _STORED_FOR
        return ""

    def _check_ahead(self, touches: Sequence[Touch]) -> None:
        """Check accesses that a lane makes too early for lanes that run in step, as it runs ahead of its warp.

        They are behind asynchronous work that the others have started by then, and must know that to be over.
        """
        for access in self._ahead.values():
            for work in touches:
                if not work.is_asynchronous or not self._hardware.is_ahead(access, work):
                    continue
                if not (work.writes or access.writes) or (work.combines and access.combines):
                    continue
                for one in work.spans:
                    if any(_meet(one, other) for other in access.spans):
                        self._report(work, access, (one.cta, one.start))
                        break

    def _report_possible(self, earlier: Touch, later: Touch, _: Place) -> Told:
        if self._doubtful > _MOST_DOUBTFUL:  # each doubt bars a proof: more pairs only say so in other words
            return Told.FINE
        race = self._hardware.race(earlier, later)
        if race is None:
            return Told.FINE
        if race.axiom is not None:
            self._rests_on_lanes |= race.axiom is LANES_IN_STEP
            return self._hardware.let_pass(earlier, later)
        self._doubtful += 1
        self._doubt(f"whether two accesses meet is not known; if they do: {race.detail}", later.point)
        return Told.WRONG

    def _doubt(self, text: str, point: int) -> None:
        self._doubts.setdefault(text, Doubt(text, point))


def _meet(one: Span, other: Span) -> bool:
    """Tell whether some bytes are certainly in both."""
    return one.cta == other.cta and max(one.start, other.start) < min(one.end, other.end)
