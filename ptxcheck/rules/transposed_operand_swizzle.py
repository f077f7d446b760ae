"""A transposed operand of `tcgen05.mma` with a swizzle that its kind cannot transpose.

Checks: instruction descriptors with a known transposition beside matrix descriptors with a known swizzle.
Why: tf32 is transposed only with the 128-byte swizzle of 32-byte atoms, all other kinds with anything but that.
Not checked: operands in tensor memory.
"""

from ..protocols.typestate.matrix_tiles import MatrixTiles
from .matrix_kernels import BLACKWELL_A, BLACKWELL_WORD, blackwell, packed
from .rule import Example, Hit, Hits, KernelView, Rule, Severity


def check(view: KernelView) -> Hits:
    for flaw in view.get(MatrixTiles).first(view.get(MatrixTiles).transposed()):
        yield Hit(flaw.operand.point, f"{flaw.operand.title}: {flaw.message}")


RULE = Rule(
    id="TM026",
    name="transposed-operand-swizzle",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.17.10.1",
    summary="A transposed operand has a swizzle that its kind cannot have.",
    consequence="Undefined; the elements of the operand are exchanged.",
    advice="Use the 128-byte swizzle of 32-byte atoms for transposed tf32, and another one for other kinds.",
    example=Example.between(
        blackwell(packed(0x2000_4040_0001_0000), expect="TM026", instruction=BLACKWELL_WORD | 1 << 15),
        blackwell(packed(BLACKWELL_A), instruction=BLACKWELL_WORD | 1 << 15),
    ),
    check=check,
)
