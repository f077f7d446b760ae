"""A kernel whose first instruction is in a loop: roles of it are not followed (found by `benchmarks.fuzz`)."""

from __future__ import annotations

from ptxcheck.checker import check
from ptxcheck.config import Config
from ptxcheck.source import Source

TEXT = """
.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u32 count) .reqntid 64
{
    .reg .pred %p<3>; .reg .b32 %r<4>;
$again:
    bar.sync 1, 64;
    ld.param.u32 %r2, [count];
    setp.ne.u32 %p2, %r2, 0;
    @%p2 bra $again;
    ret;
}
"""


def test_it_is_verified_by_runs() -> None:
    report = check(Source("k.ptx", TEXT), config=Config(verify_seconds=0.5))
    assert report.problems == ()
    assert report.kernels[0].verification is not None
