"""A matrix descriptor with an address that is not encoded: in bytes, or not masked to 18 bits.

Checks: addresses of shared memory followed into the start address of a descriptor. Possible only: an address of a
cluster kernel that keeps the rank of its CTA.
Why: the start address is (address & 0x3FFFF) >> 4. Bits above the 14 of the field change the leading offset, and the
upper bits of a generic address are those of the shared window. Source: PTX ISA 9.7.16.5.1 and 9.7.17.4.1
(matrix-descriptor-encode).
Not checked: addresses from memory or parameters.
"""

from ..protocols.typestate.matrix_tiles import MatrixTiles
from .matrix_descriptor_rules import Generation, both
from .matrix_kernels import BLACKWELL_A, HOPPER_A, blackwell, hopper, packed
from .rule import Severity

RULES = both(
    MatrixTiles.unencoded_addresses,
    severity=Severity.UNDEFINED,
    summary="The start address of a matrix descriptor is not (address & 0x3FFFF) >> 4.",
    consequence="The matrix unit reads other bytes than meant.",
    advice="Convert to a shared address, mask it to 18 bits, and shift it right by 4.",
    wgmma=Generation(
        "WG015",
        "wgmma-unencoded-address",
        "PTX ISA 9.7.16.5.1",
        hopper(packed(HOPPER_A, "and.b32 %r8, %r1, 0x3FFF;"), expect="WG015"),
        hopper(packed(HOPPER_A)),
    ),
    tcgen05=Generation(
        "TM020",
        "tcgen05-unencoded-address",
        "PTX ISA 9.7.17.4.1",
        blackwell(packed(BLACKWELL_A, "mov.b32 %r8, %r1;"), expect="TM020"),
        blackwell(packed(BLACKWELL_A)),
    ),
)
