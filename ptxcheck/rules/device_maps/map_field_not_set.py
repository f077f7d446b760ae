"""A tensor map used before all of its fields are set.

Checks: maps that the kernel fills with zeros, or does not fill at all, against the fields that every map needs.
Why: zero stands for a legal choice in interleave, swizzle and fill mode only.
Not checked: fields that are set on some paths only.
"""

from ...descriptors.device.flaws import FlawKind
from ...descriptors.device.flow import DeviceMaps
from ..rule import Hit, Hits, KernelView, Rule, Severity
from .map_kernel import KERNEL


def check(view: KernelView) -> Hits:
    for flaw in view.get(DeviceMaps).flaws:
        if flaw.kind is FlawKind.NOT_SET:
            yield Hit(flaw.point, flaw.text, flaw.related)


RULE = Rule(
    id="TD055",
    name="map-field-not-set",
    severity=Severity.UNDEFINED,
    since="0.1",
    section="PTX ISA 9.7.9.27",
    summary="A tensor map is made from zeros, or from nothing, and used before all its fields are set.",
    consequence="The copy faults, or moves bytes that the other fields do not mean.",
    advice="Replace address, rank, element type, and boxes, sizes, strides and element strides of every dimension.",
    example=KERNEL.variant("""
+     tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [map], 1, 1;

      cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes // expect: TD055
"""),
    check=check,
)
