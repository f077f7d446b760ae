"""Copies out of shared memory by tensor maps: they read at least what threads store for them."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified

FILLS = """
mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4; mov.u32 %r3, smem; add.u32 %r4, %r3, %r2; ld.param.u64 %rd1, [p];
shr.u32 %r8, %r1, 5; ld.param.u32 %r9, [n]; mov.u32 %r6, 0;
st.shared.v4.b32 [%r4], {%r1, %r1, %r1, %r1};
fence.proxy.async.shared::cta;
"""
"""Each thread stores 16 bytes behind those of the one before."""
COPY = """
setp.lt.u32 %p1, %r1, 32; elect.sync %r5|%p2, -1; and.pred %p3, %p1, %p2;
@%p3 cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {%r6}], [%r3];
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
"""
"""A lane of the first warp copies them out, however many the map says."""
OWN = """
elect.sync %r5|%p2, -1; shl.b32 %r7, %r8, 9; add.u32 %r7, %r7, %r3;
@%p2 cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {%r6}], [%r7];
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
"""
"""A lane of each warp copies what the warp has stored."""
OWN_IF_WANTED = """
elect.sync %r5|%p2, -1; shl.b32 %r7, %r8, 9; add.u32 %r7, %r7, %r3;
setp.lt.u32 %p4, %r9, 5; setp.eq.u32 %p6, %r8, 0; or.pred %p4, %p4, %p6; and.pred %p2, %p2, %p4;
@%p2 cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {%r6}], [%r7];
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
"""
"""The same, of the second warp where the host wants it."""
AROUND = """
mov.u32 %r12, 0; elect.sync %r5|%p2, -1; @%p2 mov.u32 %r12, 1;
setp.eq.u32 %p3, %r12, 0; setp.ge.u32 %p1, %r1, 32; or.pred %p3, %p3, %p1; {more}
@%p3 bra BEHIND;
{fence} cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {{%r6}}], [%r3];
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
BEHIND:
"""
"""The first warp's lane is chosen by a branch, as CUDA has it, behind a register that it sets."""
IF_WANTED = "setp.ge.u32 %p4, %r9, 5; or.pred %p3, %p3, %p4;"
IN_WARP = "bar.warp.sync -1;"
IN_CTA = "bar.sync 0;"


def slots(body: str) -> VerdictKind:
    """Return the verdict on slot safety."""
    return kind(verified(kernel(body, threads=64)), Property.SLOT_SAFETY)


@pytest.mark.parametrize(
    "body",
    [
        FILLS + IN_WARP + COPY,
        # The stores of the second round come while the copy of the first one reads.
        FILLS + IN_CTA + COPY.replace("cp.async.bulk.wait_group 0;", "") + FILLS + IN_CTA + COPY,
        FILLS + IN_WARP + AROUND.format(more="", fence=""),
    ],
)
def test_what_is_stored_for_a_copy_is_read_by_it(body: str) -> None:
    assert slots(body) is VerdictKind.VIOLATED


@pytest.mark.parametrize(
    "body",
    [
        FILLS.replace("fence.proxy.async.shared::cta;", "")
        + IN_CTA
        + "fence.proxy.async.shared::cta;"
        + COPY,
        FILLS.replace("fence.proxy.async.shared::cta;", "")
        + IN_CTA
        + AROUND.format(more="", fence="fence.proxy.async.shared::cta;"),
    ],
)
def test_a_fence_behind_the_barrier_is_an_axiom(body: str) -> None:
    assert slots(body) is VerdictKind.ASSUMES


EARLIER = "mov.u32 %r20, smem; ld.shared.u32 %r22, [%r20+512]; bar.sync 0;"
"""Threads read the bytes before: of something else."""


def test_what_was_read_before_the_stores_was_not_stored_by_them() -> None:
    assert slots(EARLIER + FILLS + IN_WARP + COPY) is VerdictKind.VIOLATED
    assert slots(FILLS + IN_WARP + COPY + IN_CTA + EARLIER) is not VerdictKind.VIOLATED


ROUNDS = (
    "ROUND: ld.shared.u32 %r22, [%r23]; bar.sync 0;"
    " st.shared.v4.b32 [%r4], {%r1, %r1, %r1, %r22}; fence.proxy.async.shared::cta; bar.warp.sync -1;"
    + COPY
    + "bar.sync 0; add.u32 %r20, %r20, 1; setp.lt.s32 %p4, %r20, %r9; @%p4 bra ROUND;"
)
"""Words that threads read at the start of each round, behind what was stored in the one before."""


@pytest.mark.parametrize(
    ("first", "is_wrong"), [(512, False), (1024, True)], ids=["of the tile", "elsewhere"]
)
def test_what_a_further_round_reads_was_not_stored_for_the_copy_alone(first: int, *, is_wrong: bool) -> None:
    start = FILLS.split("st.shared")[0] + "mov.u32 %r20, 0; shl.b32 %r23, %r1, 3; add.u32 %r23, %r23, %r3;"
    body = start + f"add.u32 %r23, %r23, {first};" + ROUNDS
    assert (slots(body) is VerdictKind.VIOLATED) == is_wrong


def test_the_verdict_says_how_it_is_known() -> None:
    result = verified(kernel(FILLS + IN_WARP + COPY, threads=64))
    problems = [each for run in result.failures for each in run.sure]
    assert all("the copy reads what is stored" in each.detail for each in problems)
    assert problems


@pytest.mark.parametrize(
    "body",
    [
        FILLS + IN_CTA + COPY,
        FILLS + IN_CTA + COPY + IN_CTA + FILLS + IN_CTA + COPY,
        FILLS + IN_WARP + OWN,
        FILLS + IN_CTA + AROUND.format(more="", fence=""),
    ],
)
def test_copies_behind_all_that_is_stored_hold(body: str) -> None:
    assert slots(body) in (VerdictKind.PROVED, VerdictKind.PROVED_BOUNDED, VerdictKind.ASSUMES)


@pytest.mark.parametrize(
    "body",
    [
        # The second warp reads what it has stored: that is not for the copy.
        FILLS + IN_WARP + COPY + "@!%p1 ld.shared.u32 %r10, [%r4];",
        # It may do so at a place that is not known.
        FILLS + IN_WARP + COPY + "add.u32 %r11, %r4, %r9; @!%p1 ld.shared.u32 %r10, [%r11];",
        # Another copy reads it, in runs that the host chooses.
        FILLS + IN_WARP + OWN_IF_WANTED,
        # The host chooses whether it is copied at all.
        FILLS + IN_WARP + AROUND.format(more=IF_WANTED, fence=""),
        # A branch on what was read leads around the copy.
        FILLS
        + IN_WARP
        + "ld.global.u32 %r13, [%rd1]; setp.eq.u32 %p5, %r13, 0; @%p5 bra BEHIND;"
        + AROUND.format(more="", fence=""),
    ],
)
def test_what_is_stored_for_others_stays_open(body: str) -> None:
    assert slots(body) is not VerdictKind.VIOLATED
