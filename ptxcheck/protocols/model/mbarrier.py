"""What mbarrier instructions do (PTX ISA, "Parallel Synchronization and Communication: mbarrier")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...isa.modifier import Mod
from ...opcodes.op import Op
from ..symex.values.symbol import Form, times
from ..symex.values.trace import NotFollowedError
from .actions import (
    OBJECT_BYTES,
    Action,
    Amount,
    Arrive,
    Barrier,
    Expect,
    Init,
    Inval,
    Wait,
)
from .lowering import Lower, Occurrence, nothing

_STATE_TAG = 1 << 62
"""The machine marks states that arrivals return with this bit; the rest is the number of the event."""


def scaled(amount: Amount, factor: int) -> Amount:
    """Return factor × amount."""
    return times(amount, factor) if isinstance(amount, Form) else amount * factor


def _init(occurrence: Occurrence) -> Iterator[Action]:
    count = occurrence.number("count")
    for barrier, threads in occurrence.barriers("addr"):
        if barrier.offset % OBJECT_BYTES:
            raise NotFollowedError(
                f"an mbarrier at an address that is no multiple of {OBJECT_BYTES}", occurrence.point
            )
        for _ in range(threads):
            yield Init(occurrence.point, barrier, count)


def _inval(occurrence: Occurrence) -> Iterator[Action]:
    for barrier, _ in occurrence.barriers("addr"):
        yield Inval(occurrence.point, barrier)


def _targets(occurrence: Occurrence) -> Iterator[tuple[Barrier, int]]:
    """Yield each mbarrier that is operated on: the one at the address, or at its offset in each CTA of a mask."""
    for barrier, threads in occurrence.barriers("addr"):
        if not occurrence.has("mask"):
            yield barrier, threads
            continue
        for rank in occurrence.ranks(occurrence.number("mask")):
            yield Barrier(rank, barrier.offset), threads


def _arrive(occurrence: Occurrence) -> Iterator[Action]:
    operation = occurrence.operation
    each = occurrence.number("count") if occurrence.has("count") else 1
    expect: Amount = occurrence.amount("tx_count") if occurrence.has("tx_count") else 0
    for barrier, threads in _targets(occurrence):
        yield Arrive(
            occurrence.point,
            barrier,
            each * threads,
            scaled(expect, threads),
            drop=operation.op is Op.MBARRIER_ARRIVE_DROP,
            token=occurrence.event.index,
            releases=not operation.has(Mod.RELAXED),
            completes=not operation.has(Mod.NO_COMPLETE),
            wide=operation.slots.get("scope") == Mod.CLUSTER,
        )


def _expect(occurrence: Occurrence) -> Iterator[Action]:
    amount = occurrence.amount("tx_count")
    for barrier, threads in _targets(occurrence):
        yield Expect(occurrence.point, barrier, scaled(amount, threads))


def _complete(occurrence: Occurrence) -> Iterator[Action]:
    amount = occurrence.amount("tx_count")
    for barrier, threads in _targets(occurrence):
        yield Expect(occurrence.point, barrier, scaled(amount, -threads))


def _wait(occurrence: Occurrence) -> Iterator[Action]:
    """Lanes that wait on different mbarriers go on together, when all of them are done."""
    acquires = not occurrence.operation.has(Mod.RELAXED)
    wide = occurrence.operation.slots.get("scope") == Mod.CLUSTER
    for barrier, _ in occurrence.barriers("addr"):
        if occurrence.has("parity"):
            parity = occurrence.number("parity") & 1  # Triton passes -1 for 1
            yield Wait(occurrence.point, barrier, parity, acquires=acquires, wide=wide)
        else:
            state = occurrence.number("state")
            if not state & _STATE_TAG:
                raise NotFollowedError("waits for a state that no arrival returned", occurrence.point)
            yield Wait(occurrence.point, barrier, None, state & ~_STATE_TAG, acquires, wide)


MEANINGS: Mapping[Op, Lower] = {
    Op.MBARRIER_INIT: _init,
    Op.MBARRIER_INVAL: _inval,
    Op.MBARRIER_ARRIVE: _arrive,
    Op.MBARRIER_ARRIVE_DROP: _arrive,
    Op.MBARRIER_EXPECT_TX: _expect,
    Op.MBARRIER_COMPLETE_TX: _complete,
    Op.MBARRIER_TEST_WAIT: _wait,
    Op.MBARRIER_TRY_WAIT: _wait,
    Op.MBARRIER_CHECK_LAYOUT: nothing,
    Op.MBARRIER_PENDING_COUNT: nothing,
}
