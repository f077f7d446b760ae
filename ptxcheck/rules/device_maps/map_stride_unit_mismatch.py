"""A stride that is the length of a row in the unit of the other versions of PTX.

Checks: the first stride of maps that the kernel makes, where it is exactly a row divided by 16 since PTX 8.5, or
exactly a row in bytes before.
Why: the operand was in units of 16 bytes until CUDA 12.4 and is in bytes since.
Source: CUTLASS, copy_sm90_desc.hpp, the switch at CUDA 12.5.
Not checked: rows with padding; strides that pass through memory.
"""

from ...descriptors.device.flaws import FlawKind
from ...descriptors.device.flow import DeviceMaps
from ..rule import Hit, Hits, KernelView, Rule, Severity
from .map_kernel import KERNEL


def check(view: KernelView) -> Hits:
    for flaw in view.get(DeviceMaps).flaws:
        if flaw.kind is FlawKind.STRIDE_UNIT:
            yield Hit(flaw.point, flaw.text, flaw.related)


RULE = Rule(
    id="TD053",
    name="map-stride-unit-mismatch",
    severity=Severity.WRONG_RESULT,
    since="0.1",
    section="PTX ISA 9.7.9.27",
    summary="A stride is replaced in the unit of another version of PTX.",
    consequence="Rows are read 16 times too close, or too far apart.",
    advice="Give bytes from PTX 8.5 (CUDA 12.5) on, and bytes divided by 16 before.",
    example=KERNEL.variant("""
      mov.u32 %r1, 0;
-     shr.u64 %rd2, 2048, 4;

-     tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [map], 0, %rd2; // expect: TD053
+     tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [map], 0, 2048;
"""),
    check=check,
)
