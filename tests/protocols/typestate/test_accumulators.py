"""The verdict on registers of wgmma: decided on all paths, and shown where a wait comes too late."""

from __future__ import annotations

import pytest

from ptxcheck import check
from ptxcheck.config import Config
from ptxcheck.source import Source
from ptxcheck.verdict import Property, VerdictKind

KERNEL = """
.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 out, .param .u64 a, .param .u64 b, .param .u32 steps) .reqntid 128
{{
    .reg .pred stop;
    .reg .b32 step, n;
    .reg .b64 to, a_desc, b_desc;
    .reg .f32 c0, c1, c2, c3;
    ld.param.u64 to, [out];
    ld.param.u64 a_desc, [a];
    ld.param.u64 b_desc, [b];
    ld.param.u32 n, [steps];
    mov.u32 step, 0;
    setp.ne.u32 stop, step, 0;
    wgmma.fence.sync.aligned;
MULTIPLY:
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{c0, c1, c2, c3}}, a_desc, b_desc, stop, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    {inside}
    add.u32 step, step, 1;
    setp.lt.u32 stop, step, n;
    @stop bra MULTIPLY;
    {behind}
    st.global.f32 [to], c0;
    ret;
}}
"""
ALL, NEWEST_LEFT = "wgmma.wait_group.sync.aligned 0;", "wgmma.wait_group.sync.aligned 1;"


def verdict(text: str) -> tuple[VerdictKind, int | None] | None:
    """Return what is said of the accumulators of a kernel, and the line of the reason."""
    report = check(Source("kernel.ptx", text), config=Config(verify_seconds=10))
    (kernel,) = report.kernels
    for each in kernel.verification.verdicts if kernel.verification is not None else ():
        if each.property is Property.ACCUMULATOR_SAFETY:
            place = each.reasons[0].location if each.reasons else None
            return each.kind, None if place is None else place.ptx.line
    return None


@pytest.mark.parametrize(("inside", "behind"), [(ALL, ""), (NEWEST_LEFT, ALL), ("", ALL)])
def test_a_wait_that_covers_all_groups_before_the_read_proves(inside: str, behind: str) -> None:
    text = KERNEL.format(inside=inside, behind=behind)
    assert verdict(text) == (VerdictKind.PROVED, None)


@pytest.mark.parametrize(("inside", "behind"), [("", ""), (NEWEST_LEFT, ""), (NEWEST_LEFT, NEWEST_LEFT)])
def test_a_read_before_the_wait_is_shown_at_its_line(inside: str, behind: str) -> None:
    text = KERNEL.format(inside=inside, behind=behind)
    line = next(number for number, each in enumerate(text.splitlines(), 1) if "st.global" in each)
    assert verdict(text) == (VerdictKind.VIOLATED, line)


def test_kernels_without_wgmma_are_not_asked() -> None:
    head = ".version 8.6\n.target sm_90a\n.address_size 64\n"
    assert verdict(head + ".visible .entry kernel() .reqntid 128\n{\n bar.sync 0;\n ret;\n}\n") is None
