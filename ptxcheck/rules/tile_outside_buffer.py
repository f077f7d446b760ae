"""A tile of a matrix instruction that reaches beyond the shared variable it starts in.

Checks: tiles of known shape and offsets at a known place in a variable of known size.
Why: the bytes behind belong to another buffer, or to nobody. Source: PTX ISA 9.7.16.5.1 and 9.7.17.5.
Not checked: dynamic shared memory, whose layout the PTX does not tell.
"""

from ..protocols.typestate.matrix_tiles import MatrixTiles
from .matrix_descriptor_rules import Generation, both
from .matrix_kernels import BLACKWELL_A, HOPPER_A, blackwell, hopper, packed
from .rule import Severity

RULES = both(
    MatrixTiles.outside,
    severity=Severity.UNDEFINED,
    summary="A matrix instruction reads beyond the end of the buffer that its tile starts in.",
    consequence="Wrong results, or a fault at the end of shared memory.",
    advice="Make the buffer as large as the tile, or correct the start and the offsets.",
    wgmma=Generation(
        "WG019",
        "wgmma-tile-outside-buffer",
        "PTX ISA 9.7.16.5.1",
        hopper(packed(HOPPER_A, "add.u32 %r7, %r1, 4096;\nbfe.u32 %r8, %r7, 4, 14;"), expect="WG019"),
        hopper(packed(HOPPER_A, "add.u32 %r7, %r1, 96;\nbfe.u32 %r8, %r7, 4, 14;")),
    ),
    tcgen05=Generation(
        "TM024",
        "tcgen05-tile-outside-buffer",
        "PTX ISA 9.7.17.4.1",
        blackwell(packed(BLACKWELL_A, "add.u32 %r7, %r1, 8192;\nbfe.u32 %r8, %r7, 4, 14;"), expect="TM024"),
        blackwell(packed(BLACKWELL_A, "add.u32 %r7, %r1, 96;\nbfe.u32 %r8, %r7, 4, 14;")),
    ),
)
