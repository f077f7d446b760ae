"""A field of a tensor map replaced by a number that no map can have there.

Checks: each value of `tensormap.replace`, by range and residue: rank above 4, boxes outside 1 to 256, element strides
outside 1 to 8, sizes of 0, addresses and strides that are no multiple of 16, a stride beyond the fourth. Entries
behind the first dimension count where a copy with so many coordinates uses the map.
Why: the limits are those of the host's encode, which refuses such maps; nobody refuses them here.
Source: PTX ISA 9.7.9.27; cuda.h, cuTensorMapEncodeTiled.
Not checked: numbers that may be legal for some input.
"""

from ...descriptors.device.flaws import FlawKind
from ...descriptors.device.flow import DeviceMaps
from ..rule import Hit, Hits, KernelView, Rule, Severity
from .map_kernel import KERNEL


def check(view: KernelView) -> Hits:
    for flaw in view.get(DeviceMaps).flaws:
        if flaw.kind is FlawKind.FIELD:
            yield Hit(flaw.point, flaw.text, flaw.related)


RULE = Rule(
    id="TD050",
    name="illegal-map-field",
    severity=Severity.UNDEFINED,
    since="0.1",
    section="PTX ISA 9.7.9.27",
    summary="A field of a tensor map is replaced by a number that no map can have there.",
    consequence="The copy that uses the map faults or moves the wrong bytes; ptxas does not look at the numbers.",
    advice=(
        "Keep boxes to 1 to 256, element strides to 1 to 8, sizes above 0, addresses and strides to multiples of 16; "
        "skip empty tensors."
    ),
    example=KERNEL.variant("""
=     .shared .align 1024 .b8 tile[8192];
-     .shared .align 1024 .b8 tile[65536];
+     .shared .align 1024 .b8 tile[32768];

=     tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 1, 64;
-     tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 1, 512; // expect: TD050
+     tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 1, 256;

=     mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 8192;
-     mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 65536;
+     mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 32768;
"""),
    check=check,
)
