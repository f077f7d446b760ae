"""A base offset that shifts the swizzle of a tile whose pattern starts at a multiple of its repeat.

Checks: descriptors with a known, non-zero base offset and a known start in a variable that is aligned to the repeat of
the swizzle (1024, 512 or 256 bytes).
Why: the base offset is (start of the pattern >> 7) & 7: zero for an aligned tile, also for rows and columns in it.
Source: PTX ISA 9.7.16.5.1 and 9.7.17.4.1.
Not checked: tiles whose start is not known.
"""

from ..protocols.typestate.matrix_tiles import MatrixTiles
from .matrix_descriptor_rules import Generation, both
from .matrix_kernels import BLACKWELL_A, HOPPER_A, blackwell, hopper, packed
from .rule import Severity

RULES = both(
    MatrixTiles.base_offsets,
    severity=Severity.WRONG_RESULT,
    summary="The base offset of a matrix descriptor does not agree with the start of its swizzle pattern.",
    consequence="The matrix unit undoes another swizzle than the copy applied: rows are exchanged.",
    advice="Set the base offset to 0 for a tile aligned to the repeat of its swizzle.",
    wgmma=Generation(
        "WG017",
        "wgmma-base-offset",
        "PTX ISA 9.7.16.5.1",
        hopper(packed(0x4006_0040_0001_0000), expect="WG017"),
        hopper(packed(HOPPER_A)),
    ),
    tcgen05=Generation(
        "TM022",
        "tcgen05-base-offset",
        "PTX ISA 9.7.17.4.1",
        blackwell(packed(0x4006_4040_0001_0000), expect="TM022"),
        blackwell(packed(BLACKWELL_A)),
    ),
)
