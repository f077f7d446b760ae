"""A map that is made in shared memory and thrown away.

Checks: replacements in shared memory from which no path leads to a copy of the map, other than over new zeros.
Why: tensor copies read maps in global, constant or parameter memory.
Not checked: maps that loads or bulk copies may read: they may be copied that way.
"""

from ...descriptors.device.flaws import FlawKind
from ...descriptors.device.flow import DeviceMaps
from ..rule import Hit, Hits, KernelView, Rule, Severity
from .map_kernel import KERNEL


def check(view: KernelView) -> Hits:
    for flaw in view.get(DeviceMaps).flaws:
        if flaw.kind is FlawKind.THROWN_AWAY:
            yield Hit(flaw.point, flaw.text, flaw.related)


RULE = Rule(
    id="TD059",
    name="map-never-copied-to-global",
    severity=Severity.WRONG_RESULT,
    since="0.1",
    section="PTX ISA 9.7.14.17",
    summary="A tensor map is made in shared memory and never copied to where copies can read it.",
    consequence="Copies use whatever map was in global memory before.",
    advice="Copy it with tensormap.cp_fenceproxy once its fields are replaced.",
    example=KERNEL.variant("""
      tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [map], 3; // expect: TD059

+     tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd0], [map], 128;
"""),
    check=check,
)
