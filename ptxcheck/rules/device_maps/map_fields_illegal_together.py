"""Replaced fields that no legal map has together.

Checks: maps that the kernel makes whole, by the rules of the host's encode: inner box against swizzle span and element
size, size of the box, types against fill modes and interleave.
Why: the driver refuses such maps on the host; nobody does here.
Source: cuda.h, cuTensorMapEncodeTiled; docs/tensor-maps.md.
Not checked: maps copied from the host's; what is legal for some input.
"""

from ...descriptors.device.flaws import FlawKind
from ...descriptors.device.flow import DeviceMaps
from ..rule import Hit, Hits, KernelView, Rule, Severity
from .map_kernel import KERNEL


def check(view: KernelView) -> Hits:
    for flaw in view.get(DeviceMaps).flaws:
        if flaw.kind is FlawKind.TOGETHER:
            yield Hit(flaw.point, flaw.text, flaw.related)


RULE = Rule(
    id="TD052",
    name="map-fields-illegal-together",
    severity=Severity.UNDEFINED,
    since="0.1",
    section="PTX ISA 9.7.9.27",
    summary="Fields of a tensor map are replaced by numbers that are not legal together.",
    consequence="The copy that uses the map faults or moves the wrong bytes.",
    advice="Make the inner box a multiple of 16 bytes within the swizzle span, and the box fit shared memory.",
    example=KERNEL.variant("""
-     tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 0, 128; // expect: TD052
-     tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 1, 32;
+     tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 0, 64;
+     tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 1, 64;
"""),
    check=check,
)
