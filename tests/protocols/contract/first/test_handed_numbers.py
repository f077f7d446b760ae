"""Numbers that threads hand each other through shared memory: who else writes the bytes that were read, and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from ptxcheck.protocols.contract.first.handed_numbers import always_seen, handed_on, is_seen
from ptxcheck.protocols.model.actions import (
    Access,
    Action,
    Barrier,
    Fence,
    Init,
    Protocol,
    Proxy,
    Rendezvous,
    Span,
    Strand,
    Transfer,
)
from ptxcheck.protocols.model.outcome import Step
from ptxcheck.protocols.model.sync_objects import NamedBarrier
from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.verdict import AssumptionKind, Property, VerdictKind
from tests.protocols.verifying import deadlock, kind, verified

WORD = Span(0, 64, 4)
LOAD, STORE, OTHER = 7, 3, 4
READ = Access(LOAD, reads=(WORD,))
WRITE = Access(STORE, writes=(WORD,))
AGAIN = Access(OTHER, writes=(Span(0, 66, 4),))
SOMEWHERE = Access(OTHER, writes=(Span(0, -1, 4, exact=False),))
COPY = Transfer(OTHER, (), "bulk", writes=(Span(0, 0, 128),))
COPY_BY_THREADS = replace(COPY, pipeline="cp.async", proxy=Proxy.GENERIC)
MEET = Rendezvous(1, NamedBarrier(0, 0), 1, 2, waits=True)
FENCE = Fence(2, proxy=True)


def run_of(*strands: Sequence[Action]) -> Protocol:
    parts = (Strand(0, warp, 1, f"warp {warp}", tuple(actions)) for warp, actions in enumerate(strands))
    return Protocol(tuple(parts), len(strands))


def is_handed_on(*actions: Action) -> bool:
    return handed_on(run_of(actions), {LOAD}, {STORE}) == {LOAD}


def is_always_seen(*strands: Sequence[Action]) -> bool:
    return always_seen(run_of(*strands), {LOAD}, {STORE}) == {LOAD}


def test_what_the_stores_alone_write_is_handed_on() -> None:
    assert is_handed_on(WRITE, READ)
    assert is_handed_on(WRITE, READ, Access(OTHER, writes=(Span(0, 68, 4),)))
    assert is_handed_on(WRITE, READ, Access(OTHER, writes=(replace(WORD, cta=1),)))


@pytest.mark.parametrize("other", [AGAIN, SOMEWHERE, COPY], ids=["store", "store somewhere", "copy"])
def test_what_something_else_writes_is_not(other: Action) -> None:
    assert not is_handed_on(WRITE, READ, other)


def test_a_load_that_is_not_followed_shows_nothing() -> None:
    for actions in ((WRITE,), (WRITE, Access(LOAD, reads=(replace(WORD, start=-1),)))):
        assert not is_handed_on(*actions)
        assert not is_always_seen(actions)
        assert not is_seen(run_of(actions), [Step(0, 0, None)], LOAD, {STORE})


ELSEWHERE = {
    "behind the read": (((WRITE, MEET, MEET, AGAIN), (MEET, READ, MEET)), True),
    "anywhere behind the read": (((WRITE, MEET, MEET, SOMEWHERE), (MEET, READ, MEET)), True),
    "beside the read": (((WRITE, MEET, AGAIN, MEET), (MEET, READ, MEET)), False),
    "in front of the store": (((MEET, WRITE, MEET), (AGAIN, MEET, MEET, READ)), True),
    "beside the store": (((MEET, WRITE, MEET), (MEET, AGAIN, MEET, READ)), False),
    "behind the store": (((WRITE, MEET, MEET, READ), (MEET, AGAIN, MEET)), False),
    "in front of a part": (((MEET, Access(STORE, writes=(Span(0, 64, 2),)), MEET), (AGAIN, MEET, MEET, READ)), False),
    "in front of what may be stored": (((MEET, replace(WRITE, certain=False), MEET), (AGAIN, MEET, MEET, READ)), False),
    "a copy behind the read": (((WRITE, MEET, MEET, COPY), (MEET, READ, MEET)), False),
    "a copy behind the read and a fence": (((WRITE, MEET, MEET, FENCE, COPY), (MEET, READ, MEET)), True),
    "a copy by threads behind the read": (((WRITE, MEET, MEET, COPY_BY_THREADS), (MEET, READ, MEET)), True),
    "a copy in front of the store": (((MEET, WRITE, MEET), (COPY_BY_THREADS, MEET, MEET, READ)), False),
    "an mbarrier": (((WRITE, MEET, MEET, AGAIN, Init(9, Barrier(0, 64), 1)), (MEET, READ, MEET)), False),
    "a run that hangs": (((WRITE, MEET, MEET, AGAIN, MEET), (MEET, READ, MEET)), False),
}  # fmt: skip


@pytest.mark.parametrize(("strands", "expected"), ELSEWHERE.values(), ids=ELSEWHERE)
def test_what_is_written_at_another_time_is_not_read(
    strands: Sequence[Sequence[Action]], expected: bool
) -> None:
    assert is_always_seen(*strands) is expected


@pytest.mark.parametrize(
    ("order", "expected"),
    [("WR", True), ("WRO", True), ("OWR", True), ("WOR", False), ("WROR", False), ("R", False), ("O", True)],
)
def test_one_schedule_shows_what_is_read_in_it(order: str, expected: bool) -> None:
    strands = {"W": (WRITE,), "R": (READ, READ), "O": (AGAIN,)}
    names = list(strands)
    done = dict.fromkeys(names, 0)
    steps = []
    for name in order:
        steps.append(Step(names.index(name), done[name], None))
        done[name] += 1
    assert is_seen(run_of(*strands.values()), steps, LOAD, {STORE}) is expected


def test_a_copy_writes_when_it_completes() -> None:
    run = run_of((WRITE, READ), (COPY,))
    issued, over = Step(1, 0, None), Step(1, 0, None, completes=True)
    first, last = Step(0, 0, None), Step(0, 1, None)
    assert is_seen(run, [issued, first, last, over], LOAD, {STORE}) is True
    assert is_seen(run, [issued, over, first, last], LOAD, {STORE}) is True
    assert is_seen(run, [issued, first, over, last], LOAD, {STORE}) is False
    assert is_seen(run, [first, issued, last], LOAD, {STORE}) is False


KERNEL = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry kernel()
.reqntid 64
{
    .shared .align 8 .b64 full;
    .shared .align 4 .b32 word;
    .reg .pred first, teller, ready, none;
    .reg .b32 thread, number;
    mov.u32 thread, %tid.x;
    setp.eq.u32 first, thread, 32;
    setp.ge.u32 teller, thread, 32;
    FRONT
    @first mbarrier.init.shared.b64 [full], 1;
    @first st.shared.u32 [word], 1;
    bar.sync 0;
    @teller bra TELL;
    ld.shared.u32 number, [word];
    bar.sync 0;
    setp.ne.u32 none, number, 1;
    @none bra END;
WAIT:
    mbarrier.try_wait.parity.shared.b64 ready, [full], 0;
    @!ready bra WAIT;
    bra END;
TELL:
    BESIDE
    bar.sync 0;
    BEHIND
    ARRIVE
END:
    ret;
}
"""
_ADD = "red.shared.add.u32 [word], 1;"
_ARRIVE = "@first mbarrier.arrive.shared.b64 _, [full];"
_TABLE = AssumptionKind.SHARED_TABLE


def told(place: str, arrive: str = _ARRIVE) -> Verification:
    """Verify a kernel that uses the word again at a place, "" for none."""
    text = KERNEL.replace("ARRIVE", arrive)
    for name in ("FRONT", "BESIDE", "BEHIND"):
        barrier = "\n    bar.sync 0;" if name == "FRONT" else ""
        text = text.replace(name, _ADD + barrier if name == place else "")
    return verified(text)


@pytest.mark.parametrize("place", ["", "FRONT", "BEHIND"])
def test_a_word_that_is_used_again_is_handed_on(place: str) -> None:
    held = told(place)
    assert kind(held, Property.DEADLOCK_FREEDOM) is VerdictKind.PROVED
    assert not held.assumptions
    assert kind(told(place, arrive=""), Property.DEADLOCK_FREEDOM) is VerdictKind.VIOLATED


def test_a_word_that_another_store_races_with_is_taken_for_granted() -> None:
    raced = told("BESIDE")
    assert {name for name, *_ in raced.assumptions} == {_TABLE}
    hung = told("BESIDE", arrive="")
    assert kind(hung, Property.DEADLOCK_FREEDOM) is VerdictKind.UNKNOWN
    assert {name for name, *_ in hung.assumptions} == {_TABLE}


WORD_THAT_IS_WRITTEN_AGAIN = """
mov.u32 %r9, %tid.x; mov.u32 %r1, table; setp.eq.u32 %p9, %r9, 0; mov.u32 %r5, 1; mov.u32 %r8, 7;
ld.param.u64 %rd1, [p];
@!%p9 bra S; st.shared.u32 [table], %r5; S: bar.sync 0;
{written}
bar.sync 0; ld.shared.u32 %r6, [table]; setp.eq.u32 %p2, %r6, 1; @%p2 bra E;
setp.lt.u32 %p3, %r9, 32; @%p3 bra E; barrier.sync 3, 64;
E:
"""
"""Numbers in shared memory that are others than the machine takes them for, as the run itself shows."""
OTHER_WRITES = [
    "@%p9 atom.shared.add.u32 %r7, [%r1+{}], 1;",
    "@%p9 red.shared.add.u32 [%r1+{}], 1;",
    "cvt.u64.u32 %rd2, %r1; cvta.shared.u64 %rd2, %rd2; @%p9 st.u32 [%rd2+{}], %r8;",
    "@%p9 cp.async.ca.shared.global [%r1+{}], [%rd1], 16; cp.async.wait_all;",
    "setp.gt.u32 %p8, %r9, 31; @%p8 bra M; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1+{}], {{%r9}}; M:",
]


@pytest.mark.parametrize("other", OTHER_WRITES)
def test_something_else_has_written_the_word(other: str) -> None:
    assert deadlock(WORD_THAT_IS_WRITTEN_AGAIN.format(written=other.format(0))) is VerdictKind.UNKNOWN


@pytest.mark.parametrize("other", OTHER_WRITES)
def test_something_else_has_written_beside_the_word(other: str) -> None:
    assert deadlock(WORD_THAT_IS_WRITTEN_AGAIN.format(written=other.format(16))) is VerdictKind.PROVED


WORD_OF_EACH_TURN = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.eq.u32 %p9, %r9, 0; mov.u32 %r5, 0;
@%p9 mbarrier.init.shared.b64 [%r1], 1; @%p9 mbarrier.init.shared.b64 [%r1+8], 32; bar.sync 0;
setp.gt.u32 %p1, %r9, 31; @%p1 bra READER; @!%p9 bra E; mov.u32 %r6, 1;
WRITE: add.u32 %r5, %r5, 1;
FREE: mbarrier.try_wait.parity.shared.b64 %p8, [%r1+8], %r6; @!%p8 bra FREE;
st.shared.u32 [table], %r5; mbarrier.arrive.shared.b64 _, [%r1];
xor.b32 %r6, %r6, 1; setp.lt.u32 %p3, %r5, 2; @%p3 bra WRITE; bra E;
READER: mov.u32 %r6, 0;
READ: add.u32 %r5, %r5, 1;
FULL: mbarrier.try_wait.parity.shared.b64 %p8, [%r1], %r6; @!%p8 bra FULL;
{skipped}
ld.shared.u32 %r7, [table]; setp.eq.u32 %p4, %r7, {wanted}; @%p4 bra NEXT; barrier.sync 3, 64;
NEXT: mbarrier.arrive.shared.b64 _, [%r1+8];
xor.b32 %r6, %r6, 1; setp.lt.u32 %p3, %r5, 2; @%p3 bra READ;
E:
"""


def test_reads_in_each_turn() -> None:
    assert deadlock(WORD_OF_EACH_TURN.format(skipped="", wanted="%r5")) is VerdictKind.PROVED


def test_reads_in_the_second_turn_alone() -> None:
    """The machine takes the first read for one of the first turn, in which 1 was written."""
    skipped = "setp.eq.u32 %p5, %r5, 1; @%p5 bra NEXT;"
    assert deadlock(WORD_OF_EACH_TURN.format(skipped=skipped, wanted=1)) is VerdictKind.UNKNOWN
