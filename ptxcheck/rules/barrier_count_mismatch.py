"""Two groups of threads that use one barrier number at one time, with different counts.

Checks: sites of the same number and different counts whose threads are disjoint and come from one common point (the
kernel's entry, or a barrier of the whole block) with no synchronisation in between.
Why: all threads of one round of a barrier must give the same count. Libraries and their users who pick the same number
hit this (flashinfer-ai/flashinfer #4533, HazyResearch/ThunderKittens cf54408f).
Not checked: the same number used in turns, which is legal; blocks of unknown size.
"""

from ..protocols.typestate.named_barrier import NamedBarriers
from .rule import Hit, Hits, KernelView, Property, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    barriers = view.get(NamedBarriers)
    known = [site for site in barriers.sites if site.number is not None and barriers.count_of(site)]
    for site in known:
        for other in known:
            count, others = barriers.count_of(site), barriers.count_of(other)
            if site.number != other.number or count == others or not barriers.concurrent(site, other):
                continue
            yield Hit(
                site.point,
                f"barrier {site.number} is used with {count} threads here and with {others} at the same time",
                related=((other.point, f"with {others} threads"),),
            )
            break


RULE = Rule(
    id="NB005",
    name="barrier-count-mismatch",
    severity=Severity.HANG,
    section="PTX ISA §9.7.14.1",
    summary="Two groups of threads use the same barrier at the same time with different thread counts.",
    consequence="The round completes early, or never.",
    advice="Give each group a barrier number of its own.",
    example=sm_90a("""
  (.param .u64 out) .reqntid 384
      mov.u32 %r1, %tid.x;
      setp.ge.u32 %p1, %r1, 128;
      @%p1 bra $consumer;
      bar.sync 1, 128; // expect: NB005
      bra.uni $done;
  $consumer:
-     bar.sync 1, 256; // expect: NB005
+     bar.sync 2, 256;
  $done:
      bar.sync 0;
      ret;
"""),
    check=check,
    approximates=(Property.PHASE_SAFETY,),
)
