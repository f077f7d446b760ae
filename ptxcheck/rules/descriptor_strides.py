"""Leading and stride offsets with which parts of a tile are the same bytes.

Checks: tiles of known shape, type and major-ness, with known offsets. Possible only: an offset of 0, which may repeat
rows on purpose.
Why: the two offsets mean different dimensions for K-major and MN-major tiles, and without swizzle they are exchanged;
a wrong one makes core matrices overlap. Source: PTX ISA 9.7.16.5.1 and 9.7.17.5.
Not checked: swizzles of atoms larger than 16 bytes; offsets that are too large.
"""

from ..protocols.typestate.matrix_tiles import MatrixTiles
from .matrix_descriptor_rules import Generation, both
from .matrix_kernels import BLACKWELL_A, blackwell, hopper, packed
from .rule import Severity

RULES = both(
    MatrixTiles.overlaps,
    severity=Severity.WRONG_RESULT,
    summary="The offsets of a matrix descriptor make parts of one tile the same bytes.",
    consequence="The matrix unit multiplies some rows twice and others not at all.",
    advice="Check which offset is along K and which is along M or N for this layout.",
    wgmma=Generation(
        "WG018",
        "wgmma-overlapping-tile",
        "PTX ISA 9.7.16.5.1",
        hopper(packed(0x0000_0008_0010_0000), expect="WG018"),
        hopper(packed(0x0000_0010_0008_0000)),
    ),
    tcgen05=Generation(
        "TM023",
        "tcgen05-overlapping-tile",
        "PTX ISA 9.7.17.4.1",
        blackwell(packed(0x4000_4008_0001_0000), expect="TM023"),
        blackwell(packed(BLACKWELL_A)),
    ),
)
