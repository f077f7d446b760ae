"""Another CTA's shared memory accessed through the own CTA's window.

Checks: loads, stores, atomics and arrivals spelled `.shared` or `.shared::cta` whose address comes from `mapa` with
another CTA's rank.
Why: the address lies in the cluster window only; the spelling says that it is in the own CTA's. Source: PTX ISA §5.1.7
and 6.4.1.
Not checked: ranks that cannot be told from the own one; generic addresses, which are fine.
"""

from collections.abc import Iterator

from ..protocols.typestate.barriers import Role, find_barriers
from ..protocols.typestate.places import Place
from ..protocols.typestate.remote import remote_confidence
from ..protocols.typestate.shared_access import find_shared_accesses
from .rule import Hit, Hits, KernelView, Rule, Severity, sm_90a

_OWN_WINDOW = (".shared", ".shared::cta")


_REMOTE_ROLES = (Role.ARRIVE, Role.EXPECT, Role.COMPLETE)


def check(view: KernelView) -> Hits:
    for point, space, place in _named(view):
        confidence = remote_confidence(view, point, place) if space in _OWN_WINDOW else None
        if confidence is not None:
            message = f"{place} belongs to another CTA, and {space} means the own one's memory"
            yield Hit(point, message, confidence=confidence)


def _named(view: KernelView) -> Iterator[tuple[int, str, Place | None]]:
    """Yield each access with the space it is spelled with."""
    for access in view.get(find_shared_accesses):
        if not access.is_async:
            yield access.point, access.space, access.place
    for use in view.get(find_barriers).having(*_REMOTE_ROLES):
        space = view.body.instructions[use.point].operation.slots.get("space", "")
        yield use.point, space, use.place


RULE = Rule(
    id="SM006",
    name="cluster-address-in-cta-access",
    severity=Severity.UNDEFINED,
    section="PTX ISA §6.4.1",
    summary="An address of another CTA's shared memory is used with `.shared::cta`, which `.shared` means too.",
    consequence="A fault, or an access of the own CTA's memory at the same offset.",
    advice="Spell the access `.shared::cluster`, or use a generic address.",
    example=sm_90a("""
  () .reqntid 32 .reqnctapercluster 2
      .shared .align 4 .b32 total;
      mov.u32 %r0, %cluster_ctarank;
      xor.b32 %r1, %r0, 1;
      st.shared.u32 [total], %r0;
      barrier.cluster.arrive.aligned;
      barrier.cluster.wait.aligned;
      mapa.shared::cluster.u32 %r2, total, %r1;
-     ld.shared.u32 %r3, [%r2];  // expect: SM006
+     ld.shared::cluster.u32 %r3, [%r2];
      barrier.cluster.arrive.aligned;
      barrier.cluster.wait.aligned;
      ret;
"""),
    check=check,
)
