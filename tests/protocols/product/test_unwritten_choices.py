"""Registers that are written on some ways alone: what is decided by them, where the same number tells both."""

from __future__ import annotations

from benchmarks.mutation.judge import launched
from ptxcheck.protocols.product.for_all import Open, Shown
from ptxcheck.protocols.verify import shown_for_every_count
from ptxcheck.source import Source
from tests.protocols.machine_runs import kernel

TEXT = """
mov.u32 %r1, smem; mov.u32 %r2, %tid.x; ld.param.u32 %r4, [m];
setp.ne.u32 %p1, %r2, 0; @%p1 bra READY; mbarrier.init.shared.b64 [%r1], 1;
READY: bar.sync 0;
setp.ne.u32 %p2, %r4, 0; @%p2 bra JOIN; ld.param.u32 %r6, [n];
JOIN: {guard} @%p3 bra DONE;
setp.lt.s32 %p4, %r6, 5; @%p4 bra DONE;
setp.ge.u32 %p5, %r2, 32; @%p5 bra WAIT;
@%p1 bra DONE; mbarrier.arrive.shared::cta.b64 _, [%r1]; bra DONE;
WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p6, [%r1], 0; @!%p6 bra WAIT;
DONE:
"""
"""Where m is not 0, %r6 is not written."""


def shown(guard: str) -> Shown | Open:
    text = kernel(TEXT.format(guard=guard), threads=64)
    return shown_for_every_count(*launched(Source("k.ptx", text), "k"), seconds=4.0)


def test_no_thread_decides_by_what_it_has_not_written() -> None:
    assert isinstance(shown("setp.ne.u32 %p3, %r4, 0;"), Shown)


def test_threads_that_do_are_followed_no_further() -> None:
    for guard in ("setp.eq.u32 %p3, %r4, 0;", "setp.eq.u32 %p3, %r4, 7;"):
        found = shown(guard)
        assert isinstance(found, Open)
        assert "depends on %r6, which some thread has not written" in found.reason
