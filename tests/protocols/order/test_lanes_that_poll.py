"""Lanes that poll together find one answer by an axiom, which is named where their answers would part them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxcheck.protocols.order.axioms import LANES_POLL_ALIKE
from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified

CORPUS = Path(__file__).parents[3] / "corpus" / "protocols" / "waits"
ENGINES = pytest.mark.parametrize("for_every_count", [False, True], ids=["runs", "product"])

POLLED = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.ne.u32 %p1, %r9, 0; setp.lt.u32 %p3, %r9, 32; and.b32 %r2, %r9, 31;
setp.ne.u32 %p2, %r2, 0;
@%p1 bra S; mbarrier.init.shared::cta.b64 [%r1], 32; S: bar.sync 0;
@!%p3 bra POLLS; mbarrier.arrive.shared::cta.b64 _, [%r1]; bra END;
POLLS:
{poll}
END:
"""
TEST = "mbarrier.test_wait.parity.shared::cta.b64 %p4, [%r1], 0;"
WAIT = "W: mbarrier.try_wait.parity.shared::cta.b64 %p8, [%r1], 0; @!%p8 bra W;"
VOTE = "vote.sync.all.pred %p5, %p4, -1; vote.sync.any.pred %p6, %p4, -1; xor.pred %p7, %p5, %p6;"


def _judged(poll: str, *, for_every_count: bool) -> Verification:
    return verified(kernel(POLLED.format(poll=poll), threads=64), for_every_count=for_every_count)


def _rests_on_it(result: Verification) -> bool:
    return LANES_POLL_ALIKE.text in result.tolerated.get(Property.DEADLOCK_FREEDOM, {})


@ENGINES
@pytest.mark.parametrize(
    "poll",
    [
        f"{TEST} {VOTE} @%p7 bar.sync 1, 64;",
        f"{TEST} {VOTE} selp.u32 %r3, 1, 0, %p7; setp.ne.u32 %p8, %r3, 0; @!%p8 bra END; bar.sync 1, 64;",
        f"{TEST} mov.u32 %r3, 0; @%p4 bra J; mov.u32 %r3, 1; J: vote.sync.ballot.b32 %r4, %p4, -1;"
        " setp.eq.u32 %p5, %r4, 0; setp.eq.u32 %p6, %r4, -1; or.pred %p7, %p5, %p6; @!%p7 bar.sync 1, 64;",
    ],
    ids=["guard", "number", "ballot"],
)
def test_lanes_that_part_by_their_answers_rest_on_the_axiom(poll: str, for_every_count: bool) -> None:
    result = _judged(poll, for_every_count=for_every_count)
    assert kind(result, Property.DEADLOCK_FREEDOM) is not VerdictKind.PROVED
    assert _rests_on_it(result)


@ENGINES
@pytest.mark.parametrize(
    "poll",
    [
        WAIT,
        f"{TEST} @%p4 bra END; {WAIT}",
        f"{TEST} selp.u32 %r3, 1, 0, %p4; setp.ne.u32 %p5, %r3, 0; @%p5 bra END; {WAIT}",
        f"{TEST} @%p2 bra END; @!%p4 bra END;",
    ],
    ids=["wait", "poll ahead", "poll ahead by a number", "nothing behind"],
)
def test_lanes_that_only_wait_need_none(poll: str, for_every_count: bool) -> None:
    result = _judged(poll, for_every_count=for_every_count)
    assert kind(result, Property.DEADLOCK_FREEDOM) in (VerdictKind.PROVED, VerdictKind.PROVED_BOUNDED)
    assert not _rests_on_it(result)


READ, WRITE = "ld.shared.u32 %r6, [%r3];", "st.shared.u32 [%r3], %r9;"
PLACE = "shl.b32 %r3, %r2, 2; xor.b32 %r4, %r3, 64; add.u32 %r3, %r3, %r1; add.u32 %r3, %r3, 64;"


@ENGINES
@pytest.mark.parametrize(
    ("poll", "rests"),
    [
        (f"{PLACE} {TEST} @%p4 {READ}", False),
        (f"{PLACE} {TEST} @!%p4 bra END; {READ}", False),
        (f"{PLACE} {TEST} @%p4 {READ} @!%p4 {WRITE}", True),
        (f"{PLACE} {TEST} @!%p4 bra L; {READ} bra END; L: {WRITE}", False),  # all lanes are taken to do both
        (f"{PLACE} {TEST} selp.u32 %r4, 4, 0, %p4; add.u32 %r3, %r3, %r4; {READ}", True),
    ],
    ids=["guard", "branch", "two guards", "two sides", "place"],
)
def test_who_touches_less_changes_nothing(poll: str, rests: bool, for_every_count: bool) -> None:
    """Lanes that found no end leave out what the others read; where they touch something else, the two may meet."""
    assert _rests_on_it(_judged(poll, for_every_count=for_every_count)) is rests


@ENGINES
def test_one_lane_that_polls_needs_none(for_every_count: bool) -> None:
    told = "@%p2 bra END; " + TEST + " @!%p4 bra END; mbarrier.arrive.shared::cta.b64 _, [%r1+8];"
    text = kernel(POLLED.format(poll=told), threads=64).replace(
        "[%r1], 32; S:", "[%r1], 32; mbarrier.init.shared::cta.b64 [%r1+8], 1; S:"
    )
    assert not _rests_on_it(verified(text, for_every_count=for_every_count))


@ENGINES
@pytest.mark.parametrize("lanes", ["upper", "!upper"])
def test_lanes_that_poll_two_phases_are_no_case_of_it(lanes: str, for_every_count: bool) -> None:
    """One instruction, two mbarriers: lanes surely may find two answers."""
    chosen = f"setp.ge.u32 %p8, %r2, 16; @{lanes.replace('upper', '%p8')} add.u32 %r1, %r1, 8;"
    text = kernel(POLLED.format(poll=f"{chosen} {TEST} {VOTE} @%p7 bar.sync 1, 64;"), threads=64).replace(
        "[%r1], 32; S:", "[%r1], 32; mbarrier.init.shared::cta.b64 [%r1+8], 32; S:"
    )
    text = text.replace(" bra END;\nPOLLS", " mbarrier.arrive.shared::cta.b64 _, [%r1+8]; bra END;\nPOLLS")
    result = verified(text, for_every_count=for_every_count)
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.UNKNOWN


@ENGINES
@pytest.mark.parametrize(
    ("left", "decides"),
    [
        ("add.u32 %r5, %r5, 1;", "setp.ne.u32 %p7, %r5, 0;"),
        ("add.u32 %r5, %r5, 1;", "setp.eq.u32 %p7, %r5, 0;"),
        ("setp.eq.u32 %p6, %r9, %r9;", "not.pred %p7, %p6;"),
        ("mov.u32 %r5, %r9;", "setp.ne.u32 %p7, %r5, 0;"),
    ],
    ids=["count", "no failure", "predicate", "number"],
)
def test_what_failures_leave_is_not_taken_from_the_first_success(
    left: str, decides: str, for_every_count: bool
) -> None:
    poll = (
        f"mov.u32 %r5, 0; setp.ne.u32 %p6, %r9, %r9; W: {TEST} @%p4 bra O; {left} bra W; O: {decides}"
        " @%p7 bar.sync 1, 64;"
    )
    text = kernel(POLLED.format(poll=poll), threads=96)
    assert kind(verified(text, for_every_count=for_every_count), Property.DEADLOCK_FREEDOM) is (
        VerdictKind.VIOLATED
    )


@ENGINES
def test_what_failures_leave_for_the_host_decides_nothing(for_every_count: bool) -> None:
    poll = f"mov.u32 %r5, 0; W: {TEST} @%p4 bra O; add.u32 %r5, %r5, 1; nanosleep.u32 %r5; bra W; O:"
    result = _judged(poll, for_every_count=for_every_count)
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.PROVED
    assert not _rests_on_it(result)


@ENGINES
@pytest.mark.parametrize("name", ["meets_after_three_tries", "meets_after_an_odd_number"])
def test_numbers_of_failures_that_no_run_has_are_not_shown(name: str, for_every_count: bool) -> None:
    text = (CORPUS / f"counts_its_tries.{name}.ptx").read_text(encoding="utf-8")
    text = text.replace(".global counts)", ".global counts) .reqntid 96")
    result = verified(text, for_every_count=for_every_count)
    assert kind(result, Property.DEADLOCK_FREEDOM) is VerdictKind.UNKNOWN
