"""A rank replaced by the number of dimensions of the copies that use the map.

Checks: the rank of maps that the kernel makes, against the coordinates of the copies.
Why: `tensormap.replace.tile.rank` takes the rank less one.
Not checked: maps copied from the host's.
"""

from ...descriptors.device.flaws import FlawKind
from ...descriptors.device.flow import DeviceMaps
from ..rule import Hit, Hits, KernelView, Rule, Severity
from .map_kernel import KERNEL


def check(view: KernelView) -> Hits:
    for flaw in view.get(DeviceMaps).flaws:
        if flaw.kind is FlawKind.RANK:
            yield Hit(flaw.point, flaw.text, flaw.related)


RULE = Rule(
    id="TD051",
    name="map-rank-not-zero-based",
    severity=Severity.UNDEFINED,
    since="0.1",
    section="PTX ISA 9.7.9.27",
    summary="The rank is replaced by the number of dimensions, not by one less.",
    consequence="The hardware takes the map for one of another rank: the copy faults.",
    advice="Write the number of dimensions less one: 1 for a matrix.",
    example=KERNEL.variant("""
-     tensormap.replace.tile.rank.shared::cta.b1024.b32 [map], 2; // expect: TD051
+     tensormap.replace.tile.rank.shared::cta.b1024.b32 [map], 1;

      tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [map], 0, 2048;
-     tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 2, 1;
-     tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [map], 2, 1;
-     tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [map], 1, 2097152;
-     tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [map], 2, 1;
"""),
    check=check,
)
