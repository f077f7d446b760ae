"""What depends on a register that a thread has not written is never proved, whatever it went through."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import VerdictKind

from ...verifying import deadlock

BODY = """
mov.u32 %r9, %tid.x; setp.ne.u32 %p9, %r9, 0; mov.u32 %r1, smem;
@%p9 bra R; mbarrier.init.shared.b64 [%r1], 64; mbarrier.init.shared.b64 [%r1+8], 64; R: bar.sync 0;
{never} @%p1 mov.u32 %r2, 0;
{use}
E:
"""
WAIT = "W: mbarrier.try_wait.parity.shared.b64 %p5, [%r1], 0; @!%p5 bra W;"
ARRIVE = "mbarrier.arrive.shared.b64 _, [%r1];"
NEVER = ("setp.gt.u32 %p1, %r9, 99;", "setp.lt.u32 %p1, %r9, 32;", "setp.ge.u32 %p1, %r9, 32;")
"""No thread writes the register, or one warp."""
USES = {
    "parity": f"add.u32 %r3, %r2, 0; {ARRIVE} {WAIT.replace(', 0;', ', %r3;')}",
    "count": f"add.u32 %r3, %r2, 1; mbarrier.arrive.shared.b64 _, [%r1], %r3; {WAIT}",
    "place": f"add.u32 %r3, %r1, %r2; mbarrier.arrive.shared.b64 _, [%r3]; {WAIT}",
    "branch": f"xor.b32 %r3, %r2, 1; setp.eq.u32 %p2, %r3, 7; @%p2 bra E; {ARRIVE} {WAIT}",
    "guard": f"setp.eq.u32 %p2, %r2, 7; @%p2 mbarrier.arrive.shared.b64 _, [%r1+8]; {ARRIVE} {WAIT}",
    "choice": f"selp.u32 %r3, %r2, 1, %p9; selp.u32 %r3, 0, %r3, %p1; add.u32 %r3, %r3, %r1;"
    f" mbarrier.arrive.shared.b64 _, [%r3]; {WAIT}",
}


@pytest.mark.parametrize("never", NEVER)
@pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
def test_it_is_not_proved(never: str, use: str) -> None:
    found = deadlock(BODY.format(never=never, use=use))
    assert found in (VerdictKind.UNKNOWN, VerdictKind.VIOLATED)


@pytest.mark.parametrize("never", NEVER)
@pytest.mark.parametrize(
    "use",
    [
        f"add.u32 %r3, %r2, 1; {ARRIVE} {WAIT}",
        f"selp.u32 %r3, %r2, 0, %p1; add.u32 %r3, %r3, %r1; mbarrier.arrive.shared.b64 _, [%r3]; {WAIT}",
        f"not.pred %p3, %p1; @%p3 mov.u32 %r2, 0; add.u32 %r3, %r2, %r1;"
        f" mbarrier.arrive.shared.b64 _, [%r3]; {WAIT}",
    ],
)
def test_what_is_not_used_or_chosen_or_written_in_time_is_no_matter(never: str, use: str) -> None:
    assert deadlock(BODY.format(never=never, use=use)) is VerdictKind.PROVED


CHOSEN = """
mov.u32 %r9, %tid.x; setp.ne.u32 %p9, %r9, 0; mov.u32 %r1, smem;
ld.param.u32 %r4, [n]; setp.ne.u32 %p3, %r4, 0;
@%p3 bra S; ld.param.u32 %r2, [m]; S:
setp.eq.u32 %p4, %r2, 5; selp.u32 %r5, 1, 0, %p4; selp.u32 %r6, {chosen}, %p3; setp.ne.u32 %p5, %r6, 0;
selp.u32 %r7, 2, 1, %p5;
@%p9 bra R; mbarrier.init.shared.b64 [%r1], %r7; R: bar.sync 0;
@%p9 bra E; mbarrier.arrive.shared.b64 _, [%r1], %r7;
W: mbarrier.try_wait.parity.shared.b64 %p6, [%r1], 0; @!%p6 bra W;
E:
"""
"""Whether there is a size is chosen by a limit, and by the size where it has been read."""


def test_a_choice_is_made_by_what_decides_whether_a_register_was_written() -> None:
    assert deadlock(CHOSEN.format(chosen="0, %r5")) is VerdictKind.PROVED
    assert deadlock(CHOSEN.format(chosen="%r5, 0")) is VerdictKind.UNKNOWN
