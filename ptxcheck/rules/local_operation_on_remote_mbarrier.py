"""An operation on another CTA's mbarrier that only its own CTA may do.

Checks: initialisation, invalidation, waits and `cp.async` arrivals whose address comes from `mapa` with another CTA's
rank.
Why: across CTAs a barrier takes arrivals, expected bytes and completed bytes, nothing else.
Not checked: ranks that cannot be told from the own one.
"""

from ..opcodes.op import Op
from ..protocols.typestate.barriers import Role, find_barriers
from ..protocols.typestate.remote import remote_confidence
from .protocol_kernels import PAIR
from .rule import Hit, Hits, KernelView, Rule, Severity

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
    section="PTX ISA §9.7.14.16.11",
    summary="A wait, initialisation or invalidation names an mbarrier of another CTA.",
    consequence="Undefined: a fault, or an operation on the own CTA's memory at the same offset.",
    advice="Wait on a barrier of the own CTA and let the peer arrive on it remotely.",
    example=PAIR.variant("""
-     mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r4], 0;  // expect: MB013
+     mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], 0;
"""),
    check=check,
)
