"""A tensor copy through a map in shared memory.

Checks: tensor-map operands that are addresses of shared variables.
Why: the map may be in global, constant or parameter memory; ptxas does not look behind a register.
Not checked: addresses that pass through memory.
"""

from ...descriptors.device.flaws import FlawKind
from ...descriptors.device.flow import DeviceMaps
from ..rule import Hit, Hits, KernelView, Rule, Severity
from .map_kernel import KERNEL


def check(view: KernelView) -> Hits:
    for flaw in view.get(DeviceMaps).flaws:
        if flaw.kind is FlawKind.SHARED:
            yield Hit(flaw.point, flaw.text, flaw.related)


RULE = Rule(
    id="TD056",
    name="map-in-shared-memory",
    severity=Severity.UNDEFINED,
    since="0.1",
    section="PTX ISA 9.7.9.26.5.2",
    summary="A copy is given a tensor map that is in shared memory.",
    consequence="The copy faults: the hardware reads maps in global, constant and parameter memory.",
    advice="Copy the map to global memory with tensormap.cp_fenceproxy, and use that copy.",
    example=KERNEL.variant("""
      mov.u32 %r1, 0;
-     mov.u64 %rd2, map;
-     cvta.shared.u64 %rd3, %rd2;

      cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes // expect: TD056
-         [tile], [%rd3, {%r1, %r1}], [bar];
+         [tile], [%rd0, {%r1, %r1}], [bar];
"""),
    check=check,
)
