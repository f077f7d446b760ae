"""A ring of three stages: one warp fills its slots, another one takes them; %r13 is the stage, %r14 the phase."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.mutation.judge import launched
from ptxcheck.protocols.product.for_all import Open, Shown
from ptxcheck.protocols.verify import shown_for_every_count
from ptxcheck.source import Source
from tests.protocols.machine_runs import kernel

INITIALISED = """
setp.ne.u32 %p1, %r2, 0; @%p1 bra READY;
mbarrier.init.shared.b64 [%r1], 1; mbarrier.init.shared.b64 [%r1+8], 1; mbarrier.init.shared.b64 [%r1+16], 1;
mbarrier.init.shared.b64 [%r1+24], 1; mbarrier.init.shared.b64 [%r1+32], 1; mbarrier.init.shared.b64 [%r1+40], 1;
READY: bar.sync 0;
and.b32 %r6, %r2, 31; setp.ne.u32 %p1, %r6, 0; @%p1 bra DONE;
"""
"""Its mbarriers, of full slots and of empty ones; one lane of each warp goes on."""
_MOVED = """
add.u32 %r13, %r13, 1; setp.eq.u32 %p9, %r13, 3; selp.u32 %r17, 1, 0, %p9; xor.b32 %r14, %r14, %r17;
selp.u32 %r13, 0, %r13, %p9; add.s32 %r15, %r15, -1; setp.gt.s32 %p10, %r15, 0; @%p10 bra"""
FILLS = f"""
NEXT: shl.b32 %r16, %r13, 3; add.u32 %r16, %r16, %r1;
EMPTY: mbarrier.try_wait.parity.shared::cta.b64 %p8, [%r16+24], %r14; @!%p8 bra EMPTY;
st.shared.u32 [%r16+64], %r15; mbarrier.arrive.shared::cta.b64 _, [%r16];{_MOVED} NEXT;
"""
"""Rounds of the warp that fills slots, as many as %r15 says, and at least one."""
TAKES = f"""
AGAIN: shl.b32 %r16, %r13, 3; add.u32 %r16, %r16, %r1;
FULL: mbarrier.try_wait.parity.shared::cta.b64 %p8, [%r16], %r14; @!%p8 bra FULL;
ld.shared.u32 %r18, [%r16+64]; mbarrier.arrive.shared::cta.b64 _, [%r16+24];{_MOVED} AGAIN;
"""
"""The same of the warp that takes them."""


def shown_with(body: str, changes: Mapping[str, str] | None = None) -> Shown | Open:
    """Return what is shown of two warps that run a body of PTX, with some pieces of it changed."""
    for old, new in (changes or {}).items():
        assert old in body
        body = body.replace(old, new)
    text = kernel(body, threads=64)
    return shown_for_every_count(*launched(Source("ring.ptx", text), "k"), seconds=6.0)
