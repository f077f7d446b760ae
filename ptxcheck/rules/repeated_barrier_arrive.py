"""A thread that arrives at a named barrier and touches it again without knowing that it completed.

Checks: paths from an `arrive` to any site of the same number with nothing in between that could tell the thread of
other threads: no other barrier, wait, atomic, ordered load or call. A count that is the sum of all arrivals and all who
wait is meant: whoever does both is two parts of one round.
Why: the second arrival may fall into the first round. The barrier then counts one warp twice, completes early, and its
next round never does. Two libraries ship it: an epilogue whose warps arrive and then wait at the same barrier
(FlashInfer, Hopper prefill: warps pass before others have written), and a role that arrives once for each empty tile
(CUTLASS example 77, MLA: hangs at two empty tiles in a row). Source: PTX ISA §9.7.14.1: a warp that has arrived must
not use the barrier again before it completes.
Not checked: numbers that are not constant; what a called function waits for.
"""

from ..protocols.typestate.named_barrier import NamedBarriers
from .rule import Confidence, Hit, Hits, KernelView, Property, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for earlier, later in view.get(NamedBarriers).reused():
        again = "arrives again" if earlier.point == later.point else "arrived before and comes back"
        skipped = view.get(NamedBarriers).skips_loop(earlier, later)
        yield Hit(
            later.point,
            f"a thread {again} at barrier {later.number} without having waited for anything in between",
            related=((earlier.point, "the arrival that may still be open"),),
            confidence=Confidence.POSSIBLE if skipped else Confidence.PROVED,
        )


RULE = Rule(
    id="NB011",
    name="repeated-barrier-arrive",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.14.1",
    summary="A thread arrives at a barrier and comes back to it with no synchronisation in between.",
    consequence="One warp is counted twice: the barrier completes early and later hangs.",
    advice="Wait on another barrier before arriving again (ping-pong), or use bar.sync once instead of both.",
    example=sm_90a("""
  (.param .u64 out) .reqntid 128
      mov.b32 %r1, 0;
  $loop:
      bar.arrive 1, 128; // expect: NB011
+     bar.sync 2, 128;
      add.u32 %r1, %r1, 1;
      setp.lt.u32 %p1, %r1, 4;
      @%p1 bra $loop;
-     bar.sync 2, 128;
      bar.sync 1, 128;
      ret;
"""),
    check=check,
    approximates=(Property.PHASE_SAFETY,),
)
