"""What lanes in step keep in order is named; what lies on two sides of a branch is not kept in order by that."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxcheck.protocols.model.outcome import Flaw
from ptxcheck.protocols.order.axioms import LANES_IN_STEP, SLOT_WITHOUT_FENCE
from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified

RED_TEAM = Path(__file__).parents[3] / "benchmarks/red_team"

FREED = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; and.b32 %r2, %r9, 31; shl.b32 %r3, %r2, 2; add.u32 %r3, %r1, %r3;
setp.ne.u32 %p1, %r9, 0; setp.ne.u32 %p2, %r2, 0; setp.lt.u32 %p3, %r9, 32; setp.lt.u32 %p4, %r2, 16;
@%p1 bra S; mbarrier.init.shared::cta.b64 [%r1+4096], {count}; S:
@!%p3 bra B; st.shared.u32 [%r3], %r9; B: bar.sync 0;
@%p3 bra WRITER;
{read}
bra END;
WRITER:
W: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r1+4096], 0; @!%p5 bra W;
st.shared.u32 [%r3], %r2;
END:
"""
"""A warp reads words, somebody of it arrives, and another warp writes them."""
READ, ARRIVE = "ld.shared.u32 %r4, [%r3];", "mbarrier.arrive.shared::cta.b64 _, [%r1+4096];"
MEET = "bar.warp.sync 0xffffffff;"


def _freed(read: str, count: int) -> str:
    return kernel(FREED.format(read=read, count=count), threads=64)


@pytest.mark.parametrize("way", ["branch", "predicate"])
def test_reads_before_the_leader_arrives_rest_on_lanes_in_step(way: str) -> None:
    arrive = f"@!%p2 {ARRIVE}" if way == "predicate" else f"@%p2 bra END; {ARRIVE}"
    result = verified(_freed(f"{READ} {arrive}", 1))
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.ASSUMES
    assert set(result.tolerated[Property.SLOT_SAFETY]) == {LANES_IN_STEP.text}
    found = {(problem.flaw, problem.axiom) for run in result.strict for problem in run.problems}
    assert found == {(Flaw.OVERWRITE, LANES_IN_STEP)}
    met = verified(_freed(f"{READ} {MEET} {arrive}", 1))
    assert kind(met, Property.SLOT_SAFETY) is VerdictKind.PROVED


@pytest.mark.parametrize("side", ["%p4", "!%p4"])
def test_reads_on_the_other_side_of_a_branch_do_not(side: str) -> None:
    read = f"@{side} bra HALF; {READ} bra END; HALF: {READ} {ARRIVE}"
    result = verified(_freed(read, 16))
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.VIOLATED


def test_reads_in_front_of_a_branch_do_however_its_sides_stand() -> None:
    """Lanes 16 to 31 have read before the warp parts; a branch of them alone does not change that."""
    read = f"{READ} @%p4 bra HALF; st.shared.u32 [%r3+1024], %r9; bra END; HALF: {ARRIVE}"
    result = verified(_freed(read, 16))
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.ASSUMES


def test_a_leader_that_arrives_in_front_of_the_reads_is_no_order() -> None:
    assert kind(verified(_freed(f"@!%p2 {ARRIVE} {READ}", 1)), Property.SLOT_SAFETY) is VerdictKind.VIOLATED


@pytest.mark.parametrize("first", [READ, "st.shared.u32 [%r3], %r2;"], ids=["reads", "writes"])
@pytest.mark.parametrize(
    "sides",
    ["@%p4 bra OTHER; {a} bra MEET; OTHER: {b} MEET:", "@!%p4 bra OTHER; {b} bra MEET; OTHER: {a} MEET:"],
)
def test_accesses_on_two_sides_of_a_branch_race(first: str, sides: str) -> None:
    """Lanes of both halves come to the same words."""
    places = "and.b32 %r5, %r2, 15; shl.b32 %r5, %r5, 2; add.u32 %r3, %r1, %r5;"
    text = places + sides.format(a=first, b="st.shared.u32 [%r3], %r9;") + MEET + ARRIVE
    result = verified(_freed(text, 32))
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.VIOLATED


@pytest.mark.parametrize(("meet", "is_named"), [("", True), (MEET, False)])
def test_accesses_that_may_meet_rest_on_lanes_in_step(meet: str, is_named: bool) -> None:
    body = f"""
    mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.ne.u32 %p1, %r9, 0; ld.param.u32 %r2, [n]; shl.b32 %r2, %r2, 2;
    add.u32 %r2, %r1, %r2; mov.u32 %r5, table;
    @%p1 bra S; mbarrier.init.shared::cta.b64 [%r5], 1; mbarrier.arrive.shared::cta.b64 _, [%r5];
    st.shared.u32 [%r2], %r9; S: {meet} ld.shared.u32 %r3, [%r1+64];
    """
    result = verified(kernel(body, threads=32))
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.ASSUMES
    assert any("in step" in each.text for each in result.provisos.get(Property.SLOT_SAFETY, ())) is is_named


def test_lanes_that_have_ended_know_no_more_events_than_they_had() -> None:
    """A counted barrier that stands in the branch of half the lanes of each warp knows of the others' end."""
    text = (RED_TEAM / "101_matmul_barrier_in_guard.bad.ptx").read_text(encoding="utf-8")
    assert kind(verified(text), Property.SLOT_SAFETY) is VerdictKind.VIOLATED


RING = Path(__file__).parents[3] / "corpus/protocols/ring/one_stage.ptx"
RELEASE, REFILL = "    mbarrier.arrive.shared::cta.b64 _, [empty];\n", "    @!ready bra WAIT_EMPTY;\n"
PROXY_FENCE = "    fence.proxy.async.shared::cta;\n"


@pytest.mark.parametrize(
    ("old", "new", "is_relied_on"),
    [
        (RELEASE, RELEASE, True),
        (RELEASE, PROXY_FENCE + RELEASE, False),
        (RELEASE, RELEASE + PROXY_FENCE, True),
        (REFILL, REFILL + PROXY_FENCE, False),
    ],
    ids=["no fence", "the reader before it releases", "the reader behind its release", "the writer"],
)
def test_a_slot_that_is_handed_back_is_fenced_on_the_way_from_its_reads_to_the_copy(
    old: str, new: str, is_relied_on: bool
) -> None:
    """A fence on the later path of the reader is as good as none, which released rings have: pedantic, for both."""
    text = RING.read_text(encoding="utf-8").replace(".param .u32 tiles)", ".param .u32 tiles) .reqntid 64")
    result = verified(text.replace(old, new))
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.PROVED
    told = {(each.flaw, each.axiom) for run in result.strict for each in run.problems}
    assert ((Flaw.MISSING_PROXY_FENCE, SLOT_WITHOUT_FENCE) in told) is is_relied_on
