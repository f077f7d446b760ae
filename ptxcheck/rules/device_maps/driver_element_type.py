"""An element type in the numbering of the driver.

Checks: element types 8, 9 and 10 of maps that the kernel makes, where the map is legal only if the number is the
driver's.
Why: the two numberings differ in these three.
Source: PTX ISA 9.7.9.27; cuda.h, CUtensorMapDataType.
Not checked: maps that are legal with both types.
"""

from ...descriptors.device.flaws import FlawKind
from ...descriptors.device.flow import DeviceMaps
from ..rule import Hit, Hits, KernelView, Rule, Severity
from .map_kernel import KERNEL


def check(view: KernelView) -> Hits:
    for flaw in view.get(DeviceMaps).flaws:
        if flaw.kind is FlawKind.TYPE_NUMBER:
            yield Hit(flaw.point, flaw.text, flaw.related)


RULE = Rule(
    id="TD054",
    name="driver-element-type",
    severity=Severity.WRONG_RESULT,
    since="0.1",
    section="PTX ISA 9.7.9.27",
    summary="The element type of a map is replaced by its number in cuda.h, which PTX gives to another type.",
    consequence="The hardware counts in elements of another size.",
    advice="Use the numbers of PTX: 8 f32.ftz, 9 f64, 10 bf16. In cuda.h 8 is FLOAT64, 9 BFLOAT16 and 10 FLOAT32_FTZ.",
    example=KERNEL.variant("""
=     tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [map], 6;
-     tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [map], 9; // expect: TD054
+     tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [map], 10;
"""),
    check=check,
)
