"""A store whose place is not known in a run, though numbers are kept in shared memory: nothing is known of them."""

from __future__ import annotations

from ptxcheck.checker import check
from ptxcheck.config import Config
from ptxcheck.source import Source

# Found by `benchmarks.fuzz`: names that are not declared, so that the address is never written in the run.
TEXT = """
.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 target) .reqntid 32
{
    .shared .align 128 .b8 words[512];
    .reg .pred low;
    ld.param.u64 to, [target];
    mov.u32 thread, %tid.x;
    setp.lt.u32 low, thread, 16;
    shl.b32 at, thread, 4;
    mov.u32 own, words;
    add.u32 own, own, at;
    @low bra SIDE;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    bra MEET;
SIDE:
    st.shared.u32 [own], thread;
MEET:
    ld.shared.u32 at, [words];
    cp.async.bulk.global.shared::cta.bulk_group [to], [at], 16;
    ret;
}
"""


def test_it_is_not_followed() -> None:
    report = check(Source("k.ptx", TEXT), config=Config(verify_seconds=5.0))
    assert [problem.detail for problem in report.problems if problem.detail] == []
