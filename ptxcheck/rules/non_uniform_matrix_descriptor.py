"""A `wgmma.mma_async` whose descriptor differs among the warps of its warpgroup.

Checks: start addresses computed from the thread index, in kernels whose block size is known.
Why: one instruction of the warpgroup reads one tile: all four warps must pass the same descriptor.
Not checked: addresses from memory; descriptors that differ within a warp and agree in its first lane.
"""

from ..protocols.typestate.matrix_tiles import MatrixTiles
from .matrix_kernels import HOPPER_A, hopper, packed
from .rule import Example, Hit, Hits, KernelView, Rule, Severity


def _by(shift: int) -> str:
    """Return the lines of a descriptor for the tile number `tid >> shift`."""
    offset = (
        f"mov.u32 %r4, %tid.x;\nshr.u32 %r5, %r4, {shift};\nshl.b32 %r6, %r5, 10;\nadd.u32 %r7, %r1, %r6;\n"
    )
    return packed(HOPPER_A, offset + "bfe.u32 %r8, %r7, 4, 14;")


def check(view: KernelView) -> Hits:
    for flaw in view.get(MatrixTiles).first(view.get(MatrixTiles).differing()):
        yield Hit(flaw.operand.point, f"{flaw.operand.title}: {flaw.message}")


RULE = Rule(
    id="WG020",
    name="non-uniform-matrix-descriptor",
    severity=Severity.UNDEFINED,
    section="PTX ISA §9.7.16.5.2",
    summary="The warps of a warpgroup pass different matrix descriptors.",
    consequence="Undefined; in practice each warp multiplies rows of another tile.",
    advice="Compute the tile from the warpgroup (tid / 128), not from the warp (tid / 32).",
    example=Example.between(hopper(_by(5), expect="WG020"), hopper(_by(7), directives=".reqntid 256")),
    check=check,
)
