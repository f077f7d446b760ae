"""Named barriers of all threads: repeated arrivals, and threads that have ended."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.verifying import deadlock, kind, verified

ARRIVE_AND_WAIT_AGAIN = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 out)
.maxntid 256
{{
    .shared .align 8 .b64 full;
    .shared .align 16 .b8 tile[1024];
    .reg .pred leads;
    .reg .b32 thread, other, at, peer, word;
    mov.u32 thread, %tid.x;
    setp.eq.u32 leads, thread, 0;
    @leads mbarrier.init.shared.b64 [full], 1;
    mov.u32 at, full;
    mapa.shared::cluster.u32 peer, at, 0;
    bar.sync 0;
    mov.u32 at, tile;
    shl.b32 other, thread, 2;
    add.u32 at, at, other;
    st.shared.u32 [at], thread;
    {between}
    bar.sync 1, 256;
    xor.b32 other, thread, {apart};
    mov.u32 at, tile;
    shl.b32 other, other, 2;
    add.u32 at, at, other;
    ld.shared.u32 word, [at];
    ret;
}}
"""
"""A barrier that threads arrive at and then wait at again: whoever comes first does both parts of the count."""


def test_arriving_first_lets_half_of_the_warps_pass() -> None:
    """The launch is not given, and no other one would make the arrivals count as they should."""
    result = verified(ARRIVE_AND_WAIT_AGAIN.format(between="bar.arrive 1, 256;", apart=128))
    assert result.inferred
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.VIOLATED
    assert kind(result, Property.PHASE_SAFETY) is VerdictKind.VIOLATED


def test_waiting_alone_is_enough() -> None:
    result = verified(ARRIVE_AND_WAIT_AGAIN.format(between="", apart=128))
    assert kind(result, Property.SLOT_SAFETY) in (VerdictKind.PROVED, VerdictKind.ASSUMES)


def test_without_accesses_that_meet_nothing_is_certain() -> None:
    result = verified(ARRIVE_AND_WAIT_AGAIN.format(between="bar.arrive 1, 256;", apart=0))
    assert VerdictKind.VIOLATED not in {each.kind for each in result.verdicts()}


@pytest.mark.parametrize(
    ("wrong", "which", "expected"),
    [
        ("bar.arrive 1, 256;", Property.PHASE_SAFETY, VerdictKind.VIOLATED),
        (
            "LATE: mbarrier.try_wait.parity.shared.b64 leads, [full], 0; @!leads bra LATE;",
            Property.DEADLOCK_FREEDOM,
            VerdictKind.UNKNOWN,
        ),
        ("mov.u32 at, tile; st.shared.u32 [at], thread;", Property.SLOT_SAFETY, VerdictKind.VIOLATED),
    ],
)
def test_where_only_empty_sizes_lead_it_is_not_taken_for_a_condition_on_them(
    wrong: str, which: Property, expected: VerdictKind
) -> None:
    """That the size is not empty would be taken for granted, though what follows goes wrong whatever it is."""
    first = "ld.param.u32 word, [rows]; setp.ge.s32 leads, word, 1; @leads bra DONE;"
    text = ARRIVE_AND_WAIT_AGAIN.format(between=f"{first} {wrong}", apart=128)
    text = text.replace(".param .u64 out)", ".param .u64 out, .param .u32 rows)").replace(
        "    ret;", "DONE: ret;"
    )
    result = verified(text)
    assert kind(result, which) is expected
    assert not result.required


@pytest.mark.parametrize(
    ("barrier", "verdict"), [("bar.sync 0;", VerdictKind.PROVED), ("bar.sync 0, 64;", VerdictKind.VIOLATED)]
)
@pytest.mark.parametrize("relation", ["lt", "ge"])
def test_threads_that_have_ended_count_as_all_do(barrier: str, verdict: VerdictKind, relation: str) -> None:
    """Nothing else happens when they end that would let the others look again."""
    body = f"mov.u32 %r9, %tid.x; setp.{relation}.u32 %p1, %r9, 32; @%p1 bra E; {barrier} E:"
    assert deadlock(body, 64) is verdict


@pytest.mark.parametrize("barrier", ["bar.sync 0;", "bar.sync 1, 64;", "bar.warp.sync -1;"])
@pytest.mark.parametrize("ended", ["setp.ge.u32 %p1, %r9, 48;", "setp.lt.u32 %p1, %r9, 16;"])
def test_lanes_that_have_ended_beside_others_are_an_assumption(barrier: str, ended: str) -> None:
    body = f"mov.u32 %r9, %tid.x; {ended} @%p1 bra E; {barrier} E:"
    assert deadlock(body, 64) is VerdictKind.ASSUMES
