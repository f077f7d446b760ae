"""Lanes of one warp that hand each other words of shared memory: in order, or taken to run in step."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.order.lane_order import taken_to_be_in_step
from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel, run
from tests.protocols.verifying import kind, verified

OTHERS = """
mov.u32 %r1, smem; mov.u32 %r2, %tid.x; shl.b32 %r3, %r2, 2; add.u32 %r4, %r1, %r3;
xor.b32 %r5, %r3, {mask}; add.u32 %r5, %r1, %r5;
st.shared.u32 [%r4], %r2;
{between}
ld.shared.u32 %r6, [%r5]; st.shared.u32 [%r1+4096], %r6;
"""
NEIGHBOUR, OWN, OTHER_WARP = 4, 0, 128


def relies(body: str) -> bool:
    ran = run(body, accesses=True)
    return taken_to_be_in_step(ran.program.cfg, ran.trace) is not None


def test_words_of_other_lanes() -> None:
    assert relies(OTHERS.format(mask=NEIGHBOUR, between=""))


@pytest.mark.parametrize(
    "between",
    [
        "bar.warp.sync 0xffffffff;",
        "bar.sync 0;",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, [%r1+4096];",
    ],
    ids=["warp", "CTA", "matrix"],
)
def test_lanes_that_have_met(between: str) -> None:
    assert not relies(OTHERS.format(mask=NEIGHBOUR, between=between))


@pytest.mark.parametrize("mask", [OWN, OTHER_WARP], ids=["own words", "words of another warp"])
def test_words_that_no_other_lane_of_the_warp_wrote(mask: int) -> None:
    assert not relies(OTHERS.format(mask=mask, between=""))


def test_a_write_behind_a_read_of_another_lane() -> None:
    body = """
    mov.u32 %r1, smem; mov.u32 %r2, %tid.x; shl.b32 %r3, %r2, 2; add.u32 %r4, %r1, %r3;
    xor.b32 %r5, %r3, 4; add.u32 %r5, %r1, %r5;
    ld.shared.u32 %r6, [%r5]; {between} st.shared.u32 [%r4], %r6;
    """
    assert relies(body.format(between=""))
    assert not relies(body.format(between="bar.warp.sync 0xffffffff;"))


COPIED = """
mov.u32 %r1, smem; mov.u32 %r2, %tid.x; shl.b32 %r3, %r2, 2; add.u32 %r4, %r1, %r3;
xor.b32 %r5, %r3, 4; add.u32 %r5, %r1, %r5;
cp.async.ca.shared.global [%r4], [%rd1], 4; cp.async.commit_group;
cp.async.ca.shared.global [%r4+2048], [%rd1], 4; cp.async.commit_group;
{between}
"""


@pytest.mark.parametrize(
    ("between", "found"),
    [
        ("cp.async.wait_group 1; {access} [%r5];", True),
        ("cp.async.wait_group 1; {access} [%r4];", False),
        ("cp.async.wait_group 1; bar.warp.sync 0xffffffff; {access} [%r5];", False),
        ("bar.warp.sync 0xffffffff; cp.async.wait_group 1; {access} [%r5];", True),
        ("cp.async.wait_group 1; bar.warp.sync 0xffffffff; cp.async.wait_all; {access} [%r5+2048];", True),
        ("cp.async.wait_group 0; bar.warp.sync 0xffffffff; {access} [%r5+2048];", False),
    ],
)
@pytest.mark.parametrize("access", ["ld.shared.u32 %r6,", "st.shared.u32"])
def test_what_another_lane_has_copied(between: str, found: bool, access: str) -> None:
    text = between.format(access=access)
    assert relies(COPIED.format(between=text.replace("];", "], %r2;") if "st." in access else text)) is found


@pytest.mark.parametrize(("place", "found"), [("%r5", True), ("%r4", False)])
def test_a_copy_that_may_not_happen_counts_as_one_that_does(place: str, found: bool) -> None:
    body = COPIED.replace("cp.async.ca", "@%p1 cp.async.ca").format(
        between=f"cp.async.wait_group 0; ld.shared.u32 %r6, [{place}];"
    )
    assert relies("ld.global.u32 %r7, [%rd1]; setp.ne.u32 %p1, %r7, 0;" + body) is found


def test_a_copy_over_what_another_lane_reads() -> None:
    body = """
    mov.u32 %r1, smem; mov.u32 %r2, %tid.x; shl.b32 %r3, %r2, 2; add.u32 %r4, %r1, %r3;
    xor.b32 %r5, %r3, 4; add.u32 %r5, %r1, %r5;
    ld.shared.u32 %r6, [%r5]; {between} cp.async.ca.shared.global [%r4], [%rd1], 4;
    """
    assert relies(body.format(between=""))
    assert not relies(body.format(between="bar.warp.sync 0xffffffff;"))


LAST_ROUND = """
.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 source, .param .u32 rounds) .reqntid 32
{
    .shared .align 128 .b8 stages[256];
    .reg .pred more;
    .reg .b32 lane, own, other, stage, at, round, n;
    .reg .b64 from;
    ld.param.u64 from, [source];
    ld.param.u32 n, [rounds];
    mov.u32 lane, %tid.x;
    mov.u32 at, stages;
    shl.b32 own, lane, 2;
    xor.b32 other, own, 4;
    add.u32 own, own, at;
    add.u32 other, other, at;
    mov.u32 stage, FIRST;
    mov.u32 round, 0;
ROUND:
    bar.sync 0;
    add.u32 at, own, stage;
    cp.async.ca.shared.global [at], [from], 4;
    cp.async.commit_group;
    cp.async.wait_group 0;
    xor.b32 stage, stage, 128;
    add.u32 round, round, 1;
    setp.lt.u32 more, round, n;
    @more bra ROUND;
    st.shared.u32 [PLACE+128], lane;
    ret;
}
"""


@pytest.mark.parametrize("first", ["0", "128"])
@pytest.mark.parametrize(("place", "is_named"), [("other", True), ("own", False)])
def test_bytes_that_another_lane_has_copied_in_the_last_round(place: str, is_named: bool, first: str) -> None:
    """They are those of the second stage for even numbers of rounds, or for odd ones: one run does not show both."""
    result = verified(LAST_ROUND.replace("PLACE", place).replace("FIRST", first))
    assert bool(result.tolerated.get(Property.SLOT_SAFETY)) is is_named
    assert (kind(result, Property.SLOT_SAFETY) is VerdictKind.ASSUMES) is is_named


SENT = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; ld.param.u64 %rd1, [p]; shl.b32 %r2, %r9, 6; add.u32 %r2, %r2, %r1;
setp.ne.u32 %p1, %r9, 0; xor.b32 %r3, %r2, 64;
st.shared.u32 [%r2], %r9; fence.proxy.async.shared::cta;
cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 64; cp.async.bulk.commit_group;
{wait}
@%p1 bra E; st.shared.u32 [{place}], %r9; E:
cp.async.bulk.wait_group 0;
"""
"""Each lane sends 64 bytes of its own; then the first one stores again."""
OWN_WAIT = "@%p1 bra W; cp.async.bulk.wait_group.read 0; W:"
ALL_WAIT = "cp.async.bulk.wait_group.read 0; bar.warp.sync 0xffffffff;"


@pytest.mark.parametrize(
    ("wait", "place", "verdict"),
    [
        (OWN_WAIT, "%r2", VerdictKind.PROVED),
        (OWN_WAIT, "%r3", VerdictKind.VIOLATED),
        (ALL_WAIT, "%r3", VerdictKind.PROVED),
    ],
)
def test_a_lane_that_has_waited_for_its_own_copy_alone(wait: str, place: str, verdict: VerdictKind) -> None:
    """In step, the others have started theirs; in the schedule at hand the first lane may run ahead of them."""
    text = kernel(SENT.format(wait=wait, place=place), threads=32)
    assert kind(verified(text), Property.SLOT_SAFETY) is verdict


HANDED = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; ld.param.u64 %rd1, [p]; shl.b32 %r2, %r9, 4; add.u32 %r2, %r2, %r1;
xor.b32 %r3, %r2, 16; setp.eq.u32 %p1, %r9, 0;
@!%p1 bra S; mbarrier.init.shared::cta.b64 [%r1+4096], 32; S: bar.sync 0;
st.shared.u32 [%r2], %r9; {arrive}
W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1+4096], 0; @!%p2 bra W;
ld.shared.u32 %r4, [%r3];
"""


@pytest.mark.parametrize(
    ("arrive", "verdict"),
    [
        ("mbarrier.arrive.shared::cta.b64 _, [%r1+4096];", VerdictKind.PROVED),
        ("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%r1+4096];", VerdictKind.ASSUMES),
        ("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r1+4096];", VerdictKind.ASSUMES),
    ],
)
def test_lanes_meet_where_they_wait_for_arrivals_that_tell_of_their_stores(
    arrive: str, verdict: VerdictKind
) -> None:
    text = kernel(HANDED.format(arrive=arrive), threads=32)
    assert kind(verified(text), Property.SLOT_SAFETY) is verdict


BROADCAST = """
mov.u32 %r1, smem; mov.u32 %r2, %tid.x; setp.{who}.u32 %p1, %r2, {lane};
ld.shared.u32 %r3, [%r1]; {between} @%p1 st.shared.u32 [%r1], %r2;
"""


@pytest.mark.parametrize("lane", [0, 31])
def test_a_write_of_what_all_lanes_have_read(lane: int) -> None:
    """Whichever lane writes, others have read, in whatever order reads of one instruction are noted."""
    assert relies(BROADCAST.format(who="eq", lane=lane, between=""))
    assert not relies(BROADCAST.format(who="eq", lane=lane, between="bar.warp.sync 0xffffffff;"))


def test_other_warps_that_read_in_between_hide_nothing() -> None:
    body = """
    mov.u32 %r1, smem; mov.u32 %r2, %tid.x; shr.u32 %r3, %r2, 5; and.b32 %r4, %r2, 31; setp.eq.u32 %p1, %r2, 0;
    setp.eq.u32 %p2, %r2, 5; setp.gt.u32 %p3, %r2, 31;
    @%p1 ld.shared.u32 %r5, [%r1]; @%p3 ld.shared.u32 %r5, [%r1]; @%p2 st.shared.u32 [%r1], %r2;
    """
    assert relies(body)


@pytest.mark.parametrize(("mask", "found"), [("0xffff", True), ("0xffffffff", False)])
def test_lanes_that_were_not_at_the_meeting_have_not_met(mask: str, found: bool) -> None:
    """Lanes 0 to 15 meet; lane 20 has stored what lane 4 reads."""
    body = f"""
    mov.u32 %r1, smem; mov.u32 %r2, %tid.x; shl.b32 %r3, %r2, 2; add.u32 %r4, %r1, %r3; xor.b32 %r5, %r3, 64;
    add.u32 %r5, %r1, %r5; setp.lt.u32 %p1, %r2, 16;
    st.shared.u32 [%r4], %r2;
    {"@%p1" if found else ""} bar.warp.sync {mask};
    @%p1 ld.shared.u32 %r6, [%r5];
    """
    assert relies(body) is found


ATOMIC = """
mov.u32 %r1, smem; mov.u32 %r2, %tid.x; setp.eq.u32 %p1, %r2, 3; setp.ne.u32 %p2, %r2, 3;
{first} {between} {then}
"""
PLAIN = {
    "load": "@%p1 ld.shared.u32 %r3, [%r1];",
    "store": "@%p1 st.shared.u32 [%r1], %r2;",
}
ADDS = {"atom": "@%p2 atom.shared.add.u32 %r4, [%r1], 1;", "red": "@%p2 red.shared.add.u32 [%r1], 1;"}


@pytest.mark.parametrize("plain", PLAIN)
@pytest.mark.parametrize("adds", ADDS)
@pytest.mark.parametrize("turned", [False, True])
def test_atomics_and_plain_accesses(plain: str, adds: str, turned: bool) -> None:
    first, then = (ADDS[adds], PLAIN[plain]) if turned else (PLAIN[plain], ADDS[adds])
    assert relies(ATOMIC.format(first=first, between="", then=then))
    assert not relies(ATOMIC.format(first=first, between="bar.warp.sync 0xffffffff;", then=then))


def test_atomics_among_themselves() -> None:
    assert not relies(ATOMIC.format(first=ADDS["atom"], between="", then=ADDS["red"]))


def test_lanes_that_arrive_at_one_mbarrier_and_wait_at_another_have_not_met() -> None:
    body = """
    mov.u32 %r9, %tid.x; mov.u32 %r1, smem; shl.b32 %r2, %r9, 2; add.u32 %r2, %r2, %r1; xor.b32 %r3, %r2, 4;
    st.shared.u32 [%r2], %r9; mbarrier.arrive.shared::cta.b64 _, [%r1+4096];
    W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1+{at}], 0; @!%p2 bra W;
    ld.shared.u32 %r4, [%r3];
    """
    assert relies(body.replace("{at}", "4104"))
    assert not relies(body.replace("{at}", "4096"))


BULK = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; ld.param.u64 %rd1, [p]; shl.b32 %r2, %r9, 6; add.u32 %r2, %r2, %r1;
xor.b32 %r3, %r2, 64; shl.b32 %r4, %r9, 3; add.u32 %r4, %r4, %r1; add.u32 %r4, %r4, 4096; xor.b32 %r5, %r4, 8;
"""
INTO = (
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{place}], [%rd1], 64, [{bar}];"
    "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [{waited}], 0; @!%p2 bra W;"
)
OUT = (
    "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [{place}], 64; cp.async.bulk.commit_group;"
    "cp.async.bulk.wait_group.read 0;"
)
OWN_BYTES, OTHERS_BYTES = "%r2", "%r3"


@pytest.mark.parametrize("access", ["ld.shared.u32 %r7, [%r2];", "st.shared.u32 [%r2], %r9;"])
@pytest.mark.parametrize(
    ("place", "between", "found"),
    [
        (OTHERS_BYTES, "", True),
        (OTHERS_BYTES, "bar.warp.sync 0xffffffff;", False),
        (OWN_BYTES, "", False),
    ],
)
def test_a_bulk_copy_over_what_another_lane_has_touched(
    access: str, place: str, between: str, found: bool
) -> None:
    assert relies(BULK + access + between + INTO.format(place=place, bar="%r4", waited="%r4")) is found


@pytest.mark.parametrize(
    ("place", "between", "found"),
    [
        (OTHERS_BYTES, "", True),
        (OTHERS_BYTES, "bar.warp.sync 0xffffffff;", False),
        (OWN_BYTES, "", False),
    ],
)
def test_a_bulk_copy_of_what_another_lane_has_stored(place: str, between: str, found: bool) -> None:
    assert relies(BULK + "st.shared.u32 [%r2], %r9;" + between + OUT.format(place=place)) is found


@pytest.mark.parametrize("access", ["ld.shared.u32 %r7, [%r2];", "st.shared.u32 [%r2], %r9;"])
@pytest.mark.parametrize(
    ("place", "bar", "waited", "between", "found"),
    [
        ("%r3", "%r4", "%r4", "", True),
        ("%r3", "%r4", "%r4", "bar.warp.sync 0xffffffff;", False),
        ("%r2", "%r4", "%r4", "", False),
        ("%r3", "%r5", "%r4", "", False),
        ("%r2", "%r5", "%r4", "", True),
        ("%r3", "%r1+4096", "%r1+4096", "", False),
    ],
    ids=["others", "met", "own", "told by the other", "own, told to the other", "one mbarrier for all"],
)
def test_what_another_lane_has_copied_in_bulk(
    access: str, place: str, bar: str, waited: str, between: str, found: bool
) -> None:
    """Lanes copy for each other, or for themselves; the mbarrier at which a lane waits tells of one copy, or of all."""
    assert relies(BULK + INTO.format(place=place, bar=bar, waited=waited) + between + access) is found


@pytest.mark.parametrize(("place", "found"), [(OTHERS_BYTES, True), (OWN_BYTES, False)])
def test_a_store_over_what_another_lane_has_sent(place: str, found: bool) -> None:
    assert relies(BULK + OUT.format(place=place) + "st.shared.u32 [%r2], %r9;") is found
    assert not relies(BULK + OUT.format(place=place) + "bar.warp.sync 0xffffffff; st.shared.u32 [%r2], %r9;")


ROWS = """
mov.u32 %r1, smem; mov.u32 %r2, %tid.x; shl.b32 %r3, %r2, 4; add.u32 %r4, %r1, %r3;
xor.b32 %r5, %r3, {mask}; add.u32 %r5, %r1, %r5; ld.param.u64 %rd1, [p];
{write}
{between}
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%r6, %r7, %r8, %r9}}, [%r5];
"""
COPY_ROW = "cp.async.cg.shared.global [%r4], [%rd1], 16; cp.async.wait_all;"
STORE_ROW = "st.shared.v4.u32 [%r4], {%r2, %r2, %r2, %r2};"


@pytest.mark.parametrize("write", [COPY_ROW, STORE_ROW], ids=["copied", "stored"])
@pytest.mark.parametrize("mask", [0, 16], ids=["own row", "row of another lane"])
@pytest.mark.parametrize(("between", "found"), [("", True), ("bar.warp.sync 0xffffffff;", False)])
def test_rows_of_a_matrix_are_read_by_all_lanes(write: str, mask: int, between: str, found: bool) -> None:
    assert relies(ROWS.format(write=write, mask=mask, between=between)) is found
