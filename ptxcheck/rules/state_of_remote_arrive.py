"""An arrival on another CTA's mbarrier that asks for the phase state.

Checks: arrivals with a state destination whose address comes from `mapa` with another CTA's rank.
Why: a remote arrival returns no state; its destination must be `_`. ptxas sees it only where the space is spelled as
that of the cluster. Source: PTX ISA §9.7.14.16.11 and .16.
Not checked: ranks that cannot be told from the own one.
"""

from ..ir import Sink
from ..protocols.typestate.barriers import Role, find_barriers
from ..protocols.typestate.remote import remote_confidence
from .protocol_kernels import PAIR
from .rule import Hit, Hits, KernelView, Rule, Severity


def check(view: KernelView) -> Hits:
    for use in view.get(find_barriers).having(Role.ARRIVE):
        state = view.body.instructions[use.point].get("state")
        if state is None or isinstance(state, Sink):
            continue
        confidence = remote_confidence(view, use.point, use.place)
        if confidence is not None:
            message = f"{use.place} belongs to another CTA, so this arrival returns no state"
            yield Hit(use.point, message, confidence=confidence)


RULE = Rule(
    id="MB012",
    name="state-of-remote-arrive",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.14.16.16",
    summary="An arrival on another CTA's mbarrier writes a state register.",
    consequence="The state is undefined, and a wait that uses it may pass at once or never.",
    advice="Use `_` as destination of remote arrivals, and let the owner of the barrier wait by parity.",
    example=PAIR.variant("""
-     mov.u64 %rd3, bar;
-     cvta.shared.u64 %rd1, %rd3;
-     mapa.u64 %rd2, %rd1, %r2;
-     @!%p0 mbarrier.arrive.b64 %rd0, [%rd2];  // expect: MB012
+     mapa.shared::cluster.u32 %r4, %r3, %r2;
+     @!%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];
"""),
    check=check,
)
