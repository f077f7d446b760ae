"""One CTA tells both CTAs of its cluster what comes next: lane n stores it in CTA n, and all go on while it says so."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.verifying import kind, verified

GOOD = (VerdictKind.PROVED, VerdictKind.PROVED_BOUNDED, VerdictKind.ASSUMES)
KERNEL = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u32 limit_in)
.reqntid 32
.reqnctapercluster 2
{
    .shared .align 8 .b64 full;
    .shared .align 8 .b64 empty;
    .shared .align 8 .b8 told[8];
    .reg .pred first, far, ready, more, heard;
    .reg .b32 lane, rank, limit, step, parity, other, flag, place, tile, mine, theirs, home, at;
    mov.u32 lane, %laneid;
    mov.u32 rank, %cluster_ctarank;
    ld.param.u32 limit, [limit_in];
    setp.eq.u32 first, lane, 0;
    @first mbarrier.init.shared.b64 [full], 1;
    @first mbarrier.init.shared.b64 [empty], 2;
    fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;
    mov.u32 at, full;
    mapa.shared::cluster.u32 theirs, at, lane;
    mov.u32 at, told;
    mapa.shared::cluster.u32 mine, at, TARGET;
    mov.u32 at, empty;
    mapa.shared::cluster.u32 home, at, 0;
    mov.u32 step, 0;
NEXT:
    and.b32 parity, step, 1;
    xor.b32 other, parity, 1;
    setp.ne.u32 far, rank, TELLER;
    @far bra HEAR;
FREE:
    mbarrier.try_wait.parity.shared.b64 ready, [empty], other;
    @!ready bra FREE;
    setp.gt.u32 more, lane, 1;
    @more bra HEAR;
    add.u32 place, step, lane;
    setp.lt.s32 more, COUNTED, limit;
    selp.b32 flag, 1, 0, more;
    mbarrier.arrive.expect_tx.shared::cluster.b64 _, [theirs], 8;
    TELL
HEAR:
    mbarrier.try_wait.parity.shared.b64 ready, [full], parity;
    @!ready bra HEAR;
    ld.shared.v2.b32 {tile, flag}, [told];
    OTHER
    bar.warp.sync -1;
    @first mbarrier.arrive.shared::cluster.b64 _, [home];
    add.u32 step, step, 1;
    setp.ne.u32 heard, WORD, 0;
    @heard bra NEXT;
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;
    ret;
}
"""
STORE = "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [mine], {}, [theirs];"
MOVED = "{ .reg .v2 .b32 both; mov.b32 both.x, place; mov.b32 both.y, flag; " + STORE.format("both") + " }"


BY_LANE = "{{ .reg .pred own; setp.eq.u32 own, lane, 0; @own {} @!own {} }}"
WIDE = (
    "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [theirs], 8;"
    + STORE.format("{place, flag}")
    + "{ .reg .b64 wide; mov.b64 wide, {place, WORDS};"
    " st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [mine], wide, [theirs]; }"
)
FAR = (
    "{{ .reg .pred own; .reg .b32 other; mov.u32 at, told; mapa.shared::cluster.u32 other, at, {rank};"
    " setp.eq.u32 own, rank, 0; and.pred own, own, first; @own st.shared::cluster.b32 [other+4], 0; }}"
)


def told(
    *, tell: str = STORE.format("{place, flag}"), counted: str = "step", word: str = "flag", teller: str = "0",
    other: str = "", target: str = "lane", first: str = "",
) -> Verification:  # fmt: skip
    text = KERNEL.replace("    ld.shared.v2", f"    {first} bar.warp.sync -1; ld.shared.v2")
    text = text.replace("TELLER", teller).replace("TELL\n", tell + "\n").replace("COUNTED", counted)
    return verified(text.replace("WORD", word).replace("OTHER", other).replace("TARGET", target))


@pytest.mark.parametrize("tell", [STORE.format("{place, flag}"), MOVED])
def test_a_word_that_is_the_same_in_all_lanes_is_the_same_in_all_ctas(tell: str) -> None:
    result = told(tell=tell)
    assert kind(result, Property.DEADLOCK_FREEDOM) in GOOD
    assert kind(result, Property.TX_BALANCE) in GOOD
    assert kind(result, Property.SLOT_SAFETY) in GOOD


@pytest.mark.parametrize(
    "change",
    [
        {"counted": "place"},
        {"word": "tile"},
        {"tell": STORE.format("{flag, place}")},
        {"tell": MOVED.replace("both.y, flag", "both.x, flag")},
        {"teller": "2"},
        {"other": "@first st.shared.b32 [told+4], step;"},
        {"target": "rank"},
        {"tell": BY_LANE.format(STORE.format("{place, flag}"), STORE.format("{place, parity}"))},
        {"tell": WIDE.replace("WORDS", "lane")},
        {"first": "@first red.shared.and.b32 [told+4], rank;"},
        {"first": FAR.format(rank=1)},
        {"first": FAR.format(rank="rank")},
    ],
    ids=["counts by lane", "another word", "words swapped", "word not moved", "nobody tells",
         "written by others", "told itself", "another word for the second CTA", 
         "written as half of a number", "combined by others", "written from the other CTA", "written from afar"],
)  # fmt: skip
def test_what_may_differ_between_ctas_decides_nothing(change: dict[str, str]) -> None:
    assert kind(told(**change), Property.DEADLOCK_FREEDOM) not in GOOD


def test_who_is_heard_first_where_several_tell_is_open() -> None:
    result = told(teller="rank")
    deadlock = next(each for each in result.verdicts() if each.property is Property.DEADLOCK_FREEDOM)
    assert deadlock.kind is VerdictKind.UNKNOWN
    assert any("several CTAs of a cluster tell" in reason.text for reason in deadlock.reasons)
