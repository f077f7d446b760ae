"""Commits and bulk stores under way when a CTA ends."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.corpus_runs import ROOT
from tests.protocols.verifying import kind, verified

_TWO_COMMITS = """
.version 8.6
.target sm_100a
.address_size 64
.visible .entry two_commits() .reqntid 32 .explicitcluster .reqnctapercluster 2, 1, 1
{{
    .shared .align 8 .b64 first;
    .shared .align 8 .b64 last;
    .reg .pred p, ready;
    .reg .b32 rank, lane;
    .reg .b16 both;
    mov.b16 both, 3;
    mov.u32 rank, %cluster_ctarank;
    mov.u32 lane, %tid.x;
    setp.ne.u32 p, lane, 0;
    @p bra MET;
    mbarrier.init.shared::cta.b64 [first], 1;
    mbarrier.init.shared::cta.b64 [last], 1;
    fence.mbarrier_init.release.cluster;
MET:
    bar.warp.sync -1;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    or.b32 lane, lane, rank;
    setp.ne.u32 p, lane, 0;
    @p bra WAIT;
    tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [first], both;
    tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [last], both;
WAIT:
    bar.warp.sync -1;
{waits}
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    ret;
}}
"""
"""Commits that arrive at a CTA which waits for a later one of the same thread: PTX does not order them, kernels do."""
_WAIT_FOR_COMMIT = """{name}:
    mbarrier.try_wait.parity.shared::cta.b64 ready, [{barrier}], 0;
    @!ready bra {name};
"""
_TAKEN = "copies and commits under way when a CTA ends find its shared memory as it was"


@pytest.mark.parametrize(
    ("awaited", "expected"),
    [
        (("first", "last"), VerdictKind.PROVED),
        (("last",), VerdictKind.ASSUMES),
        (("first",), VerdictKind.VIOLATED),
        ((), VerdictKind.VIOLATED),
    ],
)
def test_a_commit_may_outlive_a_cta_that_waits_for_a_later_one(
    awaited: tuple[str, ...], expected: VerdictKind
) -> None:
    waits = "".join(_WAIT_FOR_COMMIT.format(name=f"L{name}", barrier=name) for name in awaited)
    result = verified(_TWO_COMMITS.format(waits=waits))
    assert kind(result, Property.EXIT_SAFETY) is expected
    taken = {each.text for each in result.tolerated.get(Property.EXIT_SAFETY, {}).values()}
    assert (_TAKEN in taken) == (expected is VerdictKind.ASSUMES)


def test_a_commit_of_another_warp_is_not_in_turn_with_those_of_the_first() -> None:
    """Both arrive at one mbarrier that nobody waits for; the later commit that is awaited is of one of them."""
    text = _TWO_COMMITS.format(waits=_WAIT_FOR_COMMIT.format(name="LAST", barrier="last"))
    to_first = next(
        line for line in text.splitlines(keepends=True) if "tcgen05.commit" in line and "[first]" in line
    )
    of_the_second = f"    setp.ne.u32 p, lane, 32;\n    @p bra WAIT;\n{to_first}    bra.uni WAIT;\nLEADS:\n"
    text = text.replace(".reqntid 32", ".reqntid 64").replace("[first], 1;", "[first], 2;")
    text = text.replace("    @p bra WAIT;\n", f"    @!p bra LEADS;\n{of_the_second}", 1)
    assert kind(verified(text), Property.EXIT_SAFETY) is VerdictKind.VIOLATED


_BULK_STORE = (
    "    cp.async.bulk.global.shared::cta.bulk_group [to], [buffer], 128;\n    cp.async.bulk.commit_group;\n"
)
"""Bulk stores under way when their CTA ends: a violation where a kernel waits for none, else taken for granted."""
_WAIT_FOR_STORES = "    cp.async.bulk.wait_group 0;\n"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (_BULK_STORE + _WAIT_FOR_STORES, VerdictKind.PROVED),
        (_BULK_STORE + _WAIT_FOR_STORES + _BULK_STORE + _WAIT_FOR_STORES, VerdictKind.PROVED),
        (_BULK_STORE + _WAIT_FOR_STORES + _BULK_STORE, VerdictKind.ASSUMES),
        (_BULK_STORE, VerdictKind.VIOLATED),
        (_BULK_STORE + _BULK_STORE, VerdictKind.VIOLATED),
    ],
)
def test_the_last_stores_may_outlive_a_cta_that_waits_for_others(code: str, expected: VerdictKind) -> None:
    text = (ROOT / "groups" / "store_of_each_warp.ptx").read_text()
    assert _BULK_STORE + _WAIT_FOR_STORES in text
    text = text.replace(_BULK_STORE + _WAIT_FOR_STORES, code).replace(" target)\n", " target) .reqntid 128\n")
    result = verified(text)
    assert kind(result, Property.EXIT_SAFETY) is expected
    taken = {each.text for each in result.tolerated.get(Property.EXIT_SAFETY, {}).values()}
    assert (_TAKEN in taken) == (expected is VerdictKind.ASSUMES)


_LAST_CTA_READS = (ROOT / "cluster" / "last_cta_reads.ptx").read_text()
_MEETS_AT_EXIT = "MEET:\n    barrier.cluster.arrive;\n    barrier.cluster.wait;\n"
_BY_RANK = "setp.eq.u32 p, rank, 0;"


@pytest.mark.parametrize(
    ("decides", "alone", "meets"),
    [
        (_BY_RANK, VerdictKind.VIOLATED, VerdictKind.PROVED),
        ("setp.ne.u32 p, rank, 0;", VerdictKind.VIOLATED, VerdictKind.PROVED),
        ("mov.u32 at, %cluster_ctaid.x; setp.eq.u32 p, at, 0;", VerdictKind.VIOLATED, VerdictKind.PROVED),
        ("setp.gt.u32 p, t, 15;", VerdictKind.VIOLATED, VerdictKind.PROVED),
        ("ld.global.u32 at, [to]; setp.eq.u32 p, at, 0;", VerdictKind.UNKNOWN, VerdictKind.PROVED),
    ],
)
def test_reads_of_a_peer_on_one_side_of_a_branch(
    decides: str, alone: VerdictKind, meets: VerdictKind
) -> None:
    """Whether the peer is read that may have ended: known of its rank and of threads, not of data."""
    assert _BY_RANK in _LAST_CTA_READS
    text = _LAST_CTA_READS.replace(_BY_RANK, f"{decides} shl.b32 at, t, 2;")
    assert kind(verified(text), Property.EXIT_SAFETY) is meets
    assert _MEETS_AT_EXIT in text
    assert kind(verified(text.replace(_MEETS_AT_EXIT, "MEET:\n")), Property.EXIT_SAFETY) is alone
