"""Order of accesses of tensor memory: conflicting ones of the same columns and lanes are ordered (PTX ISA §9.7.17.6).

Property: without a problem, two accesses that certainly touch the same columns of the same lanes, one of them a write,
are in one order in every schedule, the later one behind the end of the earlier; and allocations are freed once.

Argument: multiplications, copies and shifts are over when a commit behind them has arrived and was waited for; loads
and stores when their warp has waited for them; deallocation at once. The later access must know that. An order that
mbarriers and barriers give is enough: the fences that the ISA asks for around them are left out in released kernels,
and strict (`tensor_fences`). Waits between what one thread issues are not asked for: the matrix unit does
multiplications, copies and shifts of a thread in order, and a warp's store comes behind its loads. A wait for a store
before the arrival behind which another warp loads is left out in some (the row maxima of attention in CUTLASS 77), and
strict.

A deallocation for a pair of CTAs touches the columns of both: whichever comes first may free them, so that all that
either does there has to be over before, its allocation as well. The two deallocations of a pair may come in any order.
An allocation for a pair has to know that the other CTA runs: of something that it has done. That it does is strict.
What comes after a deallocation in every schedule touches columns that are gone, unless they are fixed addresses and
its CTA has allocated again.

Not covered: columns that are only possibly touched, and addresses that are not known; they make provisos. Each conflict
that is found is a race in the schedule at hand.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..model.actions import (
    TENSOR_CORE,
    TENSOR_LOADS,
    TENSOR_STORES,
    Columns,
    Protocol,
    Proxy,
    Span,
    TensorAccess,
    TensorFence,
)
from ..model.outcome import Flaw, Proviso, TensorColumn
from ..model.record import Record
from ..model.tensor_address import ABSOLUTE
from .axioms import PEER_RUNS, TENSOR_STORE_TOLD, TENSOR_WITHOUT_FENCES
from .clock import Clock, Component, Row
from .conflicts import Place, Spans, Told, Touch, compare, is_executed_before
from .tensor_fences import Lack, TensorFences

_GROUPS = 8
_WORK = {
    TENSOR_CORE: "multiplication or copy",
    TENSOR_LOADS: "load",
    TENSOR_STORES: "store",
    "": "deallocation",
}
_END = {
    TENSOR_CORE: "a commit behind it, and a wait for that",
    TENSOR_LOADS: "tcgen05.wait::ld",
    TENSOR_STORES: "tcgen05.wait::st",
    "": "a barrier behind it",
}
_BUDGET = 300_000


class TensorOrder:
    """Accesses of all tensor memory in one schedule, in its order."""

    def __init__(self, protocol: Protocol, record: Record) -> None:
        self._protocol = protocol
        self._record = record
        self._touches: list[Touch] = []
        self._banks: dict[tuple[int, int, int], int] = {}
        self._spans: dict[tuple[Columns, ...], Spans] = {}
        self._provisos: dict[str, None] = {}
        self._freed: set[tuple[int, int]] = set()
        self._fences = TensorFences(protocol)
        self._held: dict[int, list[tuple[int, int]]] = {}
        """For each CTA, strand and point of the allocations that as many deallocations have not followed."""
        self._times: dict[tuple[int, int], int] = {}
        self._made: dict[int, list[int]] = {}
        """When each access and the allocations of each CTA come in the schedule."""

    def add(
        self, strand: int, index: int, action: TensorAccess, clock: Clock, component: Component, over: int
    ) -> None:
        """Note an access; it is over when `component` reaches `over`."""
        if action.allocates or not action.pipeline:
            self._count(strand, action)
        time = self._times[strand, index] = len(self._times)
        if action.allocates:
            self._made.setdefault(self._protocol.strands[strand].cta, []).append(time)
            self._check_peer(strand, action, clock)
        self._check_alone(strand, action)
        for columns, writes in ((action.reads, False), (action.writes, True)):
            spans = self._spans.get(columns)
            if spans is None:
                spans = self._spans[columns] = self._placed(columns)
            if spans:
                self._touches.append(
                    Touch(
                        strand, index, action.point, spans, writes, Proxy.GENERIC, False, component, over, clock
                    )
                )  # fmt: skip

    def fence(self, strand: int, index: int, kind: TensorFence, clock: Clock) -> None:
        """Note a fence around the synchronisation of threads."""
        self._fences.add(strand, index, kind, clock)

    def _count(self, strand: int, action: TensorAccess) -> None:
        held = self._held.setdefault(self._protocol.strands[strand].cta, [])
        if action.allocates:
            held.append((strand, action.point))
        elif held:
            held.pop()

    def check_end(self) -> None:
        """Report what is still allocated when all threads have ended. Call it for a schedule that ends."""
        for cta, held in self._held.items():
            for strand, point in held:
                text = "the kernel ends and has not freed what it allocates here"
                place = TensorColumn(cta, ABSOLUTE, 0)
                self._record.add(Flaw.FREED_AMISS, strand, point, place, -1, text, happened=True)

    def _check_peer(self, strand: int, action: TensorAccess, clock: Clock) -> None:
        """Report an allocation for a pair that knows of nothing that the other CTA has done: it may not run yet."""
        cta = self._protocol.strands[strand].cta
        peers = [i for i, each in enumerate(self._protocol.strands) if each.cta == cta ^ 1]
        if action.writes and peers and not any(clock[Row.EXECUTED, peer] > 0 for peer in peers):
            place = TensorColumn(cta, ABSOLUTE, 0)
            text = "nothing tells that the other CTA of the pair runs when this one allocates for both"
            self._record.add(
                Flaw.FREED_AMISS, strand, action.point, place, -1, text, happened=True, axiom=PEER_RUNS
            )

    def _check_alone(self, strand: int, action: TensorAccess) -> None:
        """Report what is wrong with an access by itself, and a second deallocation.

        Fixed addresses may be those of one allocation after the other.
        """
        touched = next(iter((*action.writes, *action.reads)), None)
        if touched is None or touched.start < 0 or action.allocates:
            return
        fault, flaw = action.fault, Flaw.OUTSIDE_ALLOCATION if action.pipeline else Flaw.FREED_AMISS
        if not action.pipeline and not fault and touched.origin != ABSOLUTE:
            freed = touched.cta, touched.origin
            fault = "the allocation is freed a second time" if freed in self._freed else ""
            self._freed.add(freed)
        if fault:
            place = TensorColumn(touched.cta, touched.origin, touched.start)
            self._record.add(flaw, strand, action.point, place, -1, fault, happened=True)

    def _placed(self, columns: Iterable[Columns]) -> Spans:
        """Return columns as spans of banks: a bank is a group of lanes of an allocation of a CTA."""
        found: list[Span] = []
        for each in columns:
            if each.start < 0:
                self._provisos.setdefault(
                    "accesses of tensor memory are in order where their address is not known"
                )
                continue
            if not each.exact:
                self._provisos.setdefault(
                    "operands in tensor memory whose columns are not all known do not reach into others"
                )
            for group in range(_GROUPS):
                if each.size and each.groups >> group & 1:
                    bank = self._banks.setdefault((each.cta, each.origin, group), len(self._banks))
                    found.append(Span(bank, each.start, each.size))
        return tuple(found)

    def check(self) -> tuple[Proviso, ...]:
        """Check all accesses; return what the rest of the argument takes for granted."""
        _, left = compare(self._touches, self._report, _BUDGET)
        if left is not None:
            self._provisos.setdefault("accesses of tensor memory beyond the budget are in order")
        for lack in self._fences.lacking(self._touches, self._pipeline):
            self._report_fence(lack)
        origins: dict[int, set[bool]] = {}
        for cta, origin, _ in self._banks:
            origins.setdefault(cta, set()).add(origin == ABSOLUTE)
        if any(len(kinds) > 1 for kinds in origins.values()):
            self._provisos.setdefault("tensor memory at fixed addresses is apart from what is allocated")
        return tuple(map(Proviso, self._provisos))

    def _report(self, earlier: Touch, later: Touch, place: Place) -> Told:
        freed, met = self._is_freed(earlier), self._is_freed(later)
        if is_executed_before(earlier, later) or self._is_in_order(earlier, later):
            if freed and not met and not self._is_made_anew(earlier, later, place):
                self._report_gone(earlier, later, place)
                return Told.WRONG
            return Told.FINE
        if freed and not met:
            earlier, later, freed, met = later, earlier, met, freed
        apart = self._protocol.strands[earlier.strand].cta != self._protocol.strands[later.strand].cta
        if (freed and apart) or self._is_made(later) or (self._is_made(earlier) and not met):
            return Told.PASSED
        self._report_conflict(earlier, later, place)
        return Told.PASSED if self._is_relied_on(earlier, later) else Told.WRONG

    def _is_made_anew(self, earlier: Touch, later: Touch, place: Place) -> bool:
        """Tell whether what is freed may be of another allocation when the later access comes: see `_check_alone`."""
        cta, origin, _ = self._bank(place)
        first, last = self._time(earlier), self._time(later)
        return origin == ABSOLUTE and any(first < time <= last for time in self._made.get(cta, ()))

    def _report_gone(self, earlier: Touch, later: Touch, place: Place) -> None:
        """Report what comes behind a deallocation of what it touches, in every schedule."""
        then = _WORK[self._pipeline(later)]
        text = f"this {then} touches columns that are freed before" if self._pipeline(later) else (
            "this allocation of a pair comes behind the deallocation by the peer"
        )  # fmt: skip
        flaw = Flaw.OUTSIDE_ALLOCATION if self._pipeline(later) else Flaw.FREED_AMISS
        cta, origin, _ = self._bank(place)
        where, related = TensorColumn(cta, origin, place[1]), ((earlier.strand, earlier.point),)
        self._record.add(flaw, later.strand, later.point, where, -1, text, happened=True, related=related)

    def _report_conflict(self, earlier: Touch, later: Touch, place: Place) -> None:
        relied_on = self._is_relied_on(earlier, later)
        first, then = _WORK[self._pipeline(earlier)], _WORK[self._pipeline(later)]
        cta, origin, _ = self._bank(place)
        flaw = Flaw.UNAWAITED_STORE if relied_on else _flaw(earlier, later)
        verb = "writes" if earlier.writes else "reads"
        end = _END[self._pipeline(earlier)]
        detail = f"nothing orders this {then} after a {first} that {verb} the same columns: {end}"
        if self._is_made(earlier):
            flaw, detail = (
                Flaw.FREED_AMISS,
                "nothing orders this deallocation after the allocation by the peer",
            )
        self._record.add(
            flaw, later.strand, later.point, TensorColumn(cta, origin, place[1]), -1, detail, happened=True,
            axiom=TENSOR_STORE_TOLD if relied_on else None, related=((earlier.strand, earlier.point),),
        )  # fmt: skip

    def _report_fence(self, lack: Lack) -> None:
        earlier, later = lack.earlier, lack.later
        first, then = _WORK[self._pipeline(earlier)], _WORK[self._pipeline(later)]
        cta, origin, _ = self._bank((lack.bank, lack.column))
        detail = f"no tcgen05.fence::{lack.kind.value} lies between a {first} of another warp and this {then}"
        self._record.add(
            _flaw(earlier, later), later.strand, later.point, TensorColumn(cta, origin, lack.column), -1, detail,
            happened=True, axiom=TENSOR_WITHOUT_FENCES, related=((earlier.strand, earlier.point),),
        )  # fmt: skip

    def _is_relied_on(self, earlier: Touch, later: Touch) -> bool:
        """Tell whether released kernels do so: a warp stores and arrives without its wait, another loads or frees."""
        stored = self._pipeline(earlier) == TENSOR_STORES and earlier.strand != later.strand
        issued = bool(later.clock[Row.EXECUTED, earlier.strand] > earlier.index)
        return stored and issued and self._pipeline(later) in (TENSOR_LOADS, "")

    def _is_in_order(self, earlier: Touch, later: Touch) -> bool:
        """Tell whether the hardware keeps the order of two accesses of one thread or warp."""
        if earlier.strand != later.strand:
            return False
        first, then = self._pipeline(earlier), self._pipeline(later)
        return first == then or (first == TENSOR_LOADS and then == TENSOR_STORES)

    def _bank(self, place: Place) -> tuple[int, int, int]:
        return next(name for name, bank in self._banks.items() if bank == place[0])

    def _time(self, touch: Touch) -> int:
        return self._times[touch.strand, touch.index]

    def _is_made(self, touch: Touch) -> bool:
        return self._action(touch).allocates

    def _is_freed(self, touch: Touch) -> bool:
        action = self._action(touch)
        return not (action.pipeline or action.allocates)

    def _pipeline(self, touch: Touch) -> str:
        return self._action(touch).pipeline

    def _action(self, touch: Touch) -> TensorAccess:
        action = self._protocol.strands[touch.strand].actions[touch.index]
        assert isinstance(action, TensorAccess)
        return action


def _flaw(earlier: Touch, later: Touch) -> Flaw:
    """Return what a conflict of two accesses would be."""
    if not earlier.writes:
        return Flaw.OVERWRITE
    return Flaw.WRITES_COLLIDE if later.writes else Flaw.READ_TOO_EARLY
