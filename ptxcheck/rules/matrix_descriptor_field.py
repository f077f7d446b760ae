"""A matrix descriptor whose constant or unused bits are wrong, or whose swizzle mode is no mode.

Checks: descriptors of wgmma and tcgen05 whose fields are known, against the layout of their architecture.
Why: nobody checks descriptors: ptxas takes any 64 bits, and the matrix unit does something with them. The two
generations number swizzles differently, and tcgen05 has a constant in bits 46 to 48. Source: PTX ISA 9.7.16.5.1 and
9.7.17.4.1.
Not checked: fields that depend on data.
"""

from ..protocols.typestate.matrix_tiles import MatrixTiles
from .matrix_descriptor_rules import Generation, both
from .matrix_kernels import BLACKWELL_A, HOPPER_A, blackwell, hopper, packed
from .rule import Severity

RULES = both(
    MatrixTiles.illegal_fields,
    severity=Severity.UNDEFINED,
    summary="A matrix descriptor has bits that its architecture does not allow.",
    consequence="The matrix unit reads other bytes than meant, or faults.",
    advice="Build the descriptor for this architecture; the generations differ in constants and swizzle numbers.",
    wgmma=Generation(
        "WG014",
        "wgmma-descriptor-field",
        "PTX ISA 9.7.16.5.1",
        hopper(packed(0x4000_4040_0001_0000), expect="WG014"),
        hopper(packed(HOPPER_A)),
    ),
    tcgen05=Generation(
        "TM019",
        "tcgen05-descriptor-field",
        "PTX ISA 9.7.17.4.1",
        blackwell(packed(0x6000_4040_0001_0000), expect="TM019"),
        blackwell(packed(BLACKWELL_A)),
    ),
)
