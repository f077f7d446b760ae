"""Accesses behind branches on the number of the thread happen for certain, by the threads that take them."""

from __future__ import annotations

from ptxcheck import check
from ptxcheck.config import Config
from ptxcheck.source import Source
from ptxcheck.verdict import Property, VerdictKind

ONE_WARP_WRITES_ANOTHER_READS = """
.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 out) .reqntid 64
{{
    .shared .align 8 .b64 bar;
    .shared .align 16 .b8 words[256];
    .reg .pred other;
    .reg .b32 thread, place, value;
    .reg .b64 to;
    ld.param.u64 to, [out];
    mov.u32 thread, %tid.x;
    setp.ne.u32 other, thread, 0;
    @other bra INITIALISED;
    mbarrier.init.shared::cta.b64 [bar], 1;
INITIALISED:
    bar.sync 0;
    shl.b32 place, thread, 2;
    mov.u32 value, words;
    add.u32 place, place, value;
    setp.ge.u32 other, thread, 32;
    @other bra WRITTEN;
    st.shared.u32 [place+128], thread;
WRITTEN:
    {barrier}
    setp.lt.u32 other, thread, 32;
    @other bra DONE;
    ld.shared.u32 value, [place];
    st.global.u32 [to], value;
DONE:
    ret;
}}
"""


def slot_safety(text: str) -> tuple[VerdictKind, int | None]:
    report = check(Source("kernel.ptx", text), config=Config(verify_seconds=10))
    (kernel,) = report.kernels
    assert kernel.verification is not None
    (found,) = (v for v in kernel.verification.verdicts if v.property is Property.SLOT_SAFETY)
    place = found.reasons[0].location if found.reasons else None
    return found.kind, None if place is None else place.ptx.line


def test_a_barrier_between_the_sides_proves() -> None:
    assert slot_safety(ONE_WARP_WRITES_ANOTHER_READS.format(barrier="bar.sync 0;")) == (
        VerdictKind.PROVED,
        None,
    )


def test_without_one_the_later_access_of_the_schedule_is_shown() -> None:
    text = ONE_WARP_WRITES_ANOTHER_READS.format(barrier="")
    line = next(number for number, each in enumerate(text.splitlines(), 1) if "[place+128]" in each)
    assert slot_safety(text) == (VerdictKind.VIOLATED, line)
