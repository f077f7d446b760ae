"""A change of a tensor map that a load may still read.

Checks: changes of maps in global memory behind a load with the same map, where nothing on the way could wait for it.
Why: the map must not change while a copy that uses it is outstanding. Stores are looked at by BG012.
Not checked: whether a wait on the way is for the right barrier and phase.
"""

from ...descriptors.device.flaws import FlawKind
from ...descriptors.device.flow import DeviceMaps
from ..rule import Hit, Hits, KernelView, Rule, Severity
from .map_kernel import KERNEL


def check(view: KernelView) -> Hits:
    for flaw in view.get(DeviceMaps).flaws:
        if flaw.kind is FlawKind.REUSED:
            yield Hit(flaw.point, flaw.text, flaw.related)


RULE = Rule(
    id="TD057",
    name="map-modified-during-load",
    severity=Severity.UNDEFINED,
    since="0.1",
    section="PTX ISA 9.7.9.26.1",
    summary="A tensor map is changed while a load that reads it is under way.",
    consequence="The load may read the new map, or a mixture.",
    advice="Wait on the mbarrier of the load before changing its map.",
    example=KERNEL.variant("""
= WAIT:
=     mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
=     @!%p1 bra WAIT;
+ WAIT0:
+     mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
+     @!%p1 bra WAIT0;
      tensormap.replace.tile.global_address.global.b1024.b64 [%rd0], %rd0; // expect: TD057
      fence.proxy.tensormap::generic.release.gpu;
- WAIT:
-     mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
-     @!%p1 bra WAIT;
"""),
    check=check,
)
