"""A warp that only waits may come too late: that none does is taken for granted, and the rest is judged without it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ptxcheck.cfg import build
from ptxcheck.cfg.cfg import Cfg
from ptxcheck.parser import parse_module
from ptxcheck.protocols.contract.first.bystanders import judged_without_late
from ptxcheck.protocols.model.actions import Protocol, Wait
from ptxcheck.protocols.model.outcome import Flaw, Outcome, Problem
from ptxcheck.protocols.proof.evidence import Run, Verification
from ptxcheck.source import Source
from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified

ROUNDS = 5
READ = "ld.shared.u32 %r13, [smem];"
RELEASE = "mbarrier.arrive.shared::cta.b64 _, [table+8];"
BODY = """
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra READY;
    mbarrier.init.shared::cta.b64 [table], 1;
    mbarrier.init.shared::cta.b64 [table+8], 32;
    fence.mbarrier_init.release.cluster;
READY:
    bar.sync 0;
    mov.u32 %r2, 0;
    setp.ge.u32 %p2, %r1, 64;
    @%p2 bra CONSUME;
PRODUCE:
    and.b32 %r3, %r2, 1;
    xor.b32 %r4, %r3, 1;
ROOM:
    mbarrier.try_wait.parity.shared::cta.b64 %p3, [table+8], %r4;
    @!%p3 bra ROOM;
    elect.sync %r9|%p5, 0xffffffff;
    setp.ge.u32 %p6, %r1, 32;
    @%p6 bra NEXT;
    @!%p5 bra NEXT;
    {fill}
NEXT:
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p4, %r2, {rounds};
    @%p4 bra PRODUCE;
    {behind}
    bra DONE;
CONSUME:
    and.b32 %r3, %r2, 1;
DATA:
    mbarrier.try_wait.parity.shared::cta.b64 %p3, [table], %r3;
    @!%p3 bra DATA;
    {use}
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p4, %r2, {rounds};
    @%p4 bra CONSUME;
    {last}
DONE:
"""
"""The first two warps wait for room, and one thread of the first fills it; the third one uses what it brings."""
EXPECT = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [table], 1024;"
COPY = (
    "ld.param.u64 %rd1, [p]; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
    " [smem], [%rd1], 1024, [table];"
)
OF_WAITS = (Property.PHASE_SAFETY, Property.DEADLOCK_FREEDOM)
OTHERS = (Property.TX_BALANCE, Property.LIFECYCLE, Property.SLOT_SAFETY, Property.EXIT_SAFETY)


def _verify(
    fill: str = EXPECT + COPY, use: str = READ + RELEASE, behind: str = "", last: str = ""
) -> Verification:
    body = BODY.format(rounds=ROUNDS, fill=fill, use=use, behind=behind, last=last)
    return verified(kernel(body, threads=96))


def _graph() -> Cfg:
    """Return the graph of the kernel that `_verify` verifies where nothing else is asked for."""
    body = BODY.format(rounds=ROUNDS, fill=EXPECT + COPY, use=READ + RELEASE, behind="", last="")
    (function,) = parse_module(Source("k.ptx", kernel(body, threads=96))).entries
    return build(function)


def _kinds(result: Verification, which: tuple[Property, ...]) -> set[VerdictKind]:
    return {kind(result, each) for each in which}


def _late_in(result: Verification) -> list[Run]:
    return [run for run in result.strict if any(p.flaw is Flaw.LATE_OBSERVER for p in run.problems)]


def test_waits_that_nobody_waits_for_are_taken_to_come_in_time() -> None:
    result = _verify()
    assert _kinds(result, OF_WAITS) == {VerdictKind.ASSUMES}
    assert _kinds(result, OTHERS) == {VerdictKind.PROVED}
    assert set(result.tolerated) == set(OF_WAITS)
    (run,) = _late_in(result)
    assert {run.protocol.strands[problem.strand].warp for problem in run.problems} == {1}


def test_a_warp_whose_wait_hangs_is_not_late() -> None:
    """The second warp waits for room once more than there is: nobody has to be late for that."""
    wait = "MORE{n}: mbarrier.try_wait.parity.shared::cta.b64 %p3, [table+8], {n}; @!%p3 bra MORE{n};"
    last = "setp.lt.u32 %p6, %r1, 32; @%p6 bra DONE;" + wait.format(n=(ROUNDS + 1) % 2)
    assert _kinds(_verify(behind=last), OF_WAITS) == {VerdictKind.ASSUMES}
    hangs = _verify(behind=last + wait.format(n=ROUNDS % 2))
    assert kind(hangs, Property.DEADLOCK_FREEDOM) is VerdictKind.VIOLATED
    assert not _late_in(hangs)


def test_fences_of_a_late_warp_concern_nobody() -> None:
    result = _verify(behind="fence.proxy.async;")
    assert _kinds(result, OTHERS) == {VerdictKind.PROVED}


def test_a_warp_that_is_waited_for_is_not_late() -> None:
    result = _verify(fill="bar.sync 1, 64;" + EXPECT + COPY)
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.VIOLATED
    assert not _late_in(result)


@pytest.mark.parametrize(
    ("use", "broken"),
    [(RELEASE + READ, Property.SLOT_SAFETY), (READ, Property.DEADLOCK_FREEDOM)],
    ids=["released before it is read", "never released"],
)
def test_what_else_is_broken_is_found_beside_it(use: str, broken: Property) -> None:
    assert kind(_verify(use=use), broken) is VerdictKind.VIOLATED


def test_bytes_that_are_missing_are_found_beside_it() -> None:
    result = _verify(fill=EXPECT.replace("1024", "1040") + COPY)
    assert VerdictKind.VIOLATED in _kinds(result, (Property.TX_BALANCE, Property.DEADLOCK_FREEDOM))
    assert VerdictKind.PROVED not in _kinds(result, OTHERS)


@pytest.mark.parametrize("parity", [0, 1], ids=["of the phase before", "of what it has filled"])
def test_a_thread_that_ends_with_waits_for_what_it_has_filled_is_no_bystander(parity: int) -> None:
    """It sees the phase before, or waits for ever, as the third warp is slow or quick."""
    tail = f"TAIL: mbarrier.try_wait.parity.shared::cta.b64 %p3, [table+8], {parity}; @!%p3 bra TAIL;"
    body = BODY.format(rounds=ROUNDS - 1, fill=EXPECT + COPY, use=READ + RELEASE, behind=tail, last="")
    alone = "setp.ne.u32 %p7, %r1, 0; setp.lt.u32 %p8, %r1, 64; and.pred %p7, %p7, %p8; @%p7 bra DONE;"
    once = body.replace("PRODUCE:", alone + "PRODUCE:", 1).replace("elect.sync %r9|%p5, 0xffffffff;", "")
    result = verified(kernel(once.replace("@!%p5 bra NEXT;", ""), threads=96))
    wanted = VerdictKind.PROVED if parity else VerdictKind.VIOLATED
    assert _kinds(result, OF_WAITS) == {wanted}


@pytest.mark.parametrize(
    ("work", "is_bystander"),
    [
        ("ld.global.u32 %r20, [%rd2];", True),
        ("st.global.u32 [%rd2], %r2;", False),
        ("red.global.add.u32 [%rd2], 1;", False),
        ("cp.async.bulk.prefetch.L2.global [%rd2], 1024; st.global.u32 [%rd2], %r2;", False),
    ],
)
def test_a_late_warp_that_leaves_results_is_no_bystander(work: str, *, is_bystander: bool) -> None:
    """The first warp, which fills the slots, may do so all the same."""
    behind_room = "@!%p3 bra ROOM; ld.param.u64 %rd2, [p];"
    body = BODY.format(
        rounds=ROUNDS,
        fill=EXPECT + COPY + "st.global.u32 [%rd2], %r2;",
        use=READ + RELEASE,
        behind="",
        last="",
    )
    result = verified(kernel(body.replace("@!%p3 bra ROOM;", behind_room + work, 1), threads=96))
    assert _kinds(result, OF_WAITS) == ({VerdictKind.ASSUMES} if is_bystander else {VerdictKind.VIOLATED})


def test_a_late_warp_that_does_something_afterwards_is_no_bystander() -> None:
    result = _verify(behind="st.shared.u32 [smem+4096], 7;")
    assert kind(result, Property.PHASE_SAFETY) is VerdictKind.VIOLATED
    assert _kinds(result, OTHERS) == {VerdictKind.PROVED_BOUNDED}  # in schedules in which no warp is late
    assert not _late_in(result)


def test_a_late_warp_that_others_meet_afterwards_is_no_bystander() -> None:
    result = _verify(behind="bar.sync 2, 96;", last="bar.sync 2, 96;")
    assert _kinds(result, OTHERS) == {VerdictKind.PROVED_BOUNDED}


@pytest.mark.parametrize(
    ("flaw", "is_judged"), [(Flaw.OVERWRITE, True), (Flaw.EXIT_WITH_REMOTE_ACCESS, False)]
)
def test_waits_may_be_all_that_keeps_a_cta_alive(flaw: Flaw, is_judged: bool) -> None:
    (run,) = _late_in(_verify())
    graph = _graph()
    (late,) = {problem.strand for problem in run.problems}

    def judge(protocol: Protocol) -> Outcome:
        assert not any(isinstance(action, Wait) for action in protocol.strands[late].actions)
        return Outcome((Problem(flaw, 0, 1, None, 0, ""),), (), ())

    problems = tuple(replace(problem, flaw=Flaw.MISSED_PHASE) for problem in run.problems)
    rest = judged_without_late(graph, run.protocol, Outcome(problems, (), ()), judge)
    assert (rest is not None) == is_judged
