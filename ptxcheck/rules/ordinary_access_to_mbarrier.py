"""An ordinary access, or a copy, to bytes that hold a live mbarrier.

Checks: loads, stores, atomics and asynchronous copies whose bytes overlap an object that the same thread has
initialised on a feasible path and not invalidated; addresses and sizes must be constant.
Why: only mbarrier operations may touch a live object. Source: PTX ISA §9.7.14.16.4. Seen as a copy longer than its
buffer, with the barrier right behind.
Not checked: the boxes of tensor copies beyond their first bytes; accesses by other threads.
"""

from ..protocols.typestate.mbarrier_lifecycle import find_lifecycle
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a


def check(view: KernelView) -> Hits:
    for breach in view.get(find_lifecycle).overwritten:
        assert breach.cause is not None
        yield Hit(
            breach.point,
            f"this touches the live mbarrier {breach.place}",
            ((breach.cause, "initialised here"),),
        )


RULE = Rule(
    id="MB006",
    name="ordinary-access-to-mbarrier",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.14.16.4",
    summary="Bytes of a live mbarrier are read or written by something else than an mbarrier operation.",
    consequence="The phase and the counts are overwritten or undefined: a hang, or data that is used too early.",
    advice="Keep barriers apart from data; invalidate a barrier before its storage is used for something else.",
    example=sm_90a("""
  ()
      .shared .align 8 .b64 bar;
      mov.u32 %r0, %tid.x;
      setp.ne.u32 %p0, %r0, 0;
      @%p0 bra DONE;
      mbarrier.init.shared::cta.b64 [bar], 1;
+     mbarrier.inval.shared::cta.b64 [bar];
      st.shared.u64 [bar], 0;  // expect: MB006
  DONE:
      bar.sync 0;
      ret;
"""),
    check=check,
)
