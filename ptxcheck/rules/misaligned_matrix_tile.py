"""A tile of a matrix instruction that starts between multiples of 16 bytes.

Checks: start addresses at a known offset of a variable with at least 16-byte alignment.
Why: the descriptor counts in units of 16 bytes, so that the rest of the address is lost without a word. Source: PTX
ISA 9.7.16.5.1 and 9.7.17.4.1.
Not checked: offsets that depend on data.
"""

from ..protocols.typestate.matrix_tiles import MatrixTiles
from .matrix_descriptor_rules import Generation, both
from .matrix_kernels import BLACKWELL_A, HOPPER_A, blackwell, hopper, packed
from .rule import Severity

RULES = both(
    MatrixTiles.misaligned,
    severity=Severity.WRONG_RESULT,
    summary="A tile of a matrix instruction does not start at a multiple of 16 bytes.",
    consequence="The matrix unit reads the tile from an earlier byte.",
    advice="Align the tile to 16 bytes, or to the repeat of its swizzle.",
    wgmma=Generation(
        "WG016",
        "wgmma-misaligned-tile",
        "PTX ISA 9.7.16.5.1",
        hopper(packed(HOPPER_A, "add.u32 %r7, %r1, 8;\nbfe.u32 %r8, %r7, 4, 14;"), expect="WG016"),
        hopper(packed(HOPPER_A, "add.u32 %r7, %r1, 32;\nbfe.u32 %r8, %r7, 4, 14;")),
    ),
    tcgen05=Generation(
        "TM021",
        "tcgen05-misaligned-tile",
        "PTX ISA 9.7.17.4.1",
        blackwell(packed(BLACKWELL_A, "add.u32 %r7, %r1, 8;\nbfe.u32 %r8, %r7, 4, 14;"), expect="TM021"),
        blackwell(packed(BLACKWELL_A, "add.u32 %r7, %r1, 32;\nbfe.u32 %r8, %r7, 4, 14;")),
    ),
)
