"""What mbarrier instructions do (PTX ISA, "Parallel Synchronization and Communication: mbarrier")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..op import Op
from .actions import Action, Arrive, Expect, Init, Inval, Transfer, Wait
from .lowering import Lower, Occurrence
from .machine.symbol import Form, times
from .machine.trace import NotFollowedError


def _init(occurrence: Occurrence) -> Iterator[Action]:
    count = occurrence.number("count")
    for barrier, threads in occurrence.barriers("addr"):
        for _ in range(threads):
            yield Init(occurrence.point, barrier, count)


def _inval(occurrence: Occurrence) -> Iterator[Action]:
    for barrier, _ in occurrence.barriers("addr"):
        yield Inval(occurrence.point, barrier)


def _arrive(occurrence: Occurrence) -> Iterator[Action]:
    if occurrence.has("mask"):
        raise NotFollowedError("arrival with a CTA mask", occurrence.point)
    each = occurrence.number("count") if occurrence.has("count") else 1
    drop = occurrence.operation.op is Op.MBARRIER_ARRIVE_DROP
    for barrier, threads in occurrence.barriers("addr"):
        expect: int | Form = 0
        if occurrence.has("tx_count"):
            amount = occurrence.amount("tx_count")
            expect = times(amount, threads) if isinstance(amount, Form) else amount * threads
        yield Arrive(occurrence.point, barrier, each * threads, expect, drop, occurrence.event.index)


def _expect(occurrence: Occurrence) -> Iterator[Action]:
    amount = occurrence.amount("tx_count")
    for barrier, threads in occurrence.barriers("addr"):
        yield Expect(
            occurrence.point,
            barrier,
            times(amount, threads) if isinstance(amount, Form) else amount * threads,
        )


def _complete(occurrence: Occurrence) -> Iterator[Action]:
    amount = occurrence.number("tx_count")
    yield Transfer(
        occurrence.point, tuple((b, amount * threads) for b, threads in occurrence.barriers("addr"))
    )


def _wait(occurrence: Occurrence) -> Iterator[Action]:
    (barrier, _), *others = occurrence.barriers("addr")
    if others:
        raise NotFollowedError("lanes of a warp wait on different mbarriers", occurrence.point)
    if occurrence.has("parity"):
        yield Wait(occurrence.point, barrier, occurrence.number("parity") & 1)
        return
    token = occurrence.number("state")
    yield Wait(occurrence.point, barrier, None, token & ~(1 << 62))


MEANINGS: Mapping[Op, Lower] = {
    Op.MBARRIER_INIT: _init,
    Op.MBARRIER_INVAL: _inval,
    Op.MBARRIER_ARRIVE: _arrive,
    Op.MBARRIER_ARRIVE_DROP: _arrive,
    Op.MBARRIER_EXPECT_TX: _expect,
    Op.MBARRIER_COMPLETE_TX: _complete,
    Op.MBARRIER_TEST_WAIT: _wait,
    Op.MBARRIER_TRY_WAIT: _wait,
}
