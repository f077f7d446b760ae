"""An operation on another CTA's mbarrier that only its own CTA may do.

Checks: initialisation, invalidation, waits and `cp.async` arrivals whose address comes from `mapa` with another CTA's
rank.
Why: across CTAs a barrier takes arrivals, expected bytes and completed bytes, nothing else.
Not checked: ranks that cannot be told from the own one.
"""

from ..opcodes.op import Op
from ..protocols.typestate.barriers import Role, find_barriers
from ..protocols.typestate.remote import remote_confidence
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a

_LOCAL = (Role.INIT, Role.INVAL, Role.WAIT, Role.OTHER)


def check(view: KernelView) -> Hits:
    for use in view.get(find_barriers).uses:
        op = view.body.instructions[use.point].operation.op
        if use.role not in _LOCAL and op is not Op.CP_ASYNC_MBARRIER_ARRIVE:
            continue
        confidence = remote_confidence(view, use.point, use.place)
        if confidence is not None:
            message = f"{use.place} belongs to another CTA; this operation works on own mbarriers only"
            yield Hit(use.point, message, confidence=confidence)


RULE = Rule(
    id="MB013",
    name="local-operation-on-remote-mbarrier",
    severity=Severity.UNDEFINED,
    section="PTX ISA 9.7.14.16.11",
    summary="A wait, initialisation or invalidation names an mbarrier of another CTA.",
    consequence="Undefined: a fault, or an operation on the own CTA's memory at the same offset.",
    advice="Wait on a barrier of the own CTA and let the peer arrive on it remotely.",
    example=sm_90a("""
  () .reqntid 128 .reqnctapercluster 2
      .shared .align 8 .b64 bar;

      mov.u32 %r0, %tid.x;
      setp.ne.u32 %p0, %r0, 0;
      @%p0 bra READY;
      mbarrier.init.shared::cta.b64 [bar], 1;
      fence.mbarrier_init.release.cluster;
  READY:
      barrier.cluster.arrive.aligned;
      barrier.cluster.wait.aligned;
      @%p0 bra DONE;
      mov.u32 %r1, %cluster_ctarank;
      xor.b32 %r2, %r1, 1;
      mapa.shared::cluster.u32 %r3, bar, %r2;
      mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];
  WAIT:
-     mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r3], 0;  // expect: MB013
+     mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [bar], 0;
      @!%p1 bra WAIT;
  DONE:
      barrier.cluster.arrive.aligned;
      barrier.cluster.wait.aligned;
      ret;
"""),
    check=check,
)
