"""Rules about matrix descriptors, in pairs: one flaw, of wgmma on Hopper and of tcgen05 on Blackwell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from ..protocols.typestate.matrix_tiles import Flaw, MatrixTiles
from .matrix_kernels import BLACKWELL_A, HOPPER_A, blackwell, hopper, packed
from .rule import Confidence, Example, Hit, Hits, KernelView, Rule, Severity

Found: TypeAlias = Callable[[MatrixTiles], Iterator[Flaw]]


@dataclass(frozen=True, slots=True)
class Generation:
    """What the rule of one generation has of its own."""

    id: str
    name: str
    section: str
    bad: str
    good: str


def both(
    found: Found,
    *,
    severity: Severity,
    summary: str,
    consequence: str,
    advice: str,
    wgmma: Generation,
    tcgen05: Generation,
) -> tuple[Rule, Rule]:
    """Return the rules about one flaw, of wgmma and of tcgen05; what is not sure of it is possible."""

    def rule(own: Generation, *, is_hopper: bool) -> Rule:
        return Rule(
            id=own.id,
            name=own.name,
            severity=severity,
            section=own.section,
            summary=summary,
            consequence=consequence,
            advice=advice,
            example=Example.between(own.bad, own.good),
            check=partial(_check, found, is_hopper),
        )

    return rule(wgmma, is_hopper=True), rule(tcgen05, is_hopper=False)


def _check(found: Found, is_hopper: bool, view: KernelView) -> Hits:
    for flaw in view.get(MatrixTiles).first(found(view.get(MatrixTiles))):
        if flaw.operand.is_hopper is is_hopper:
            confidence = Confidence.PROVED if flaw.sure else Confidence.POSSIBLE
            yield Hit(flaw.operand.point, f"{flaw.operand.title}: {flaw.message}", confidence=confidence)


RULES = (
    # Checks: descriptors of wgmma and tcgen05 whose fields are known, against the layout of their architecture.
    # Why: nobody checks descriptors: ptxas takes any 64 bits, and the matrix unit does something with them. The two
    # generations number swizzles differently, and tcgen05 has a constant in bits 46 to 48. Source: PTX ISA §9.7.16.5.1
    # and 9.7.17.4.1.
    # Not checked: fields that depend on data.
    *both(
        MatrixTiles.illegal_fields,
        severity=Severity.UNDEFINED,
        summary="A matrix descriptor has bits that its architecture does not allow.",
        consequence="The matrix unit reads other bytes than meant, or faults.",
        advice="Build the descriptor for this architecture; the generations differ in constants and swizzle numbers.",
        wgmma=Generation(
            "WG014",
            "wgmma-descriptor-field",
            "PTX ISA §9.7.16.5.1",
            hopper(packed(0x4000_4040_0001_0000), expect="WG014"),
            hopper(packed(HOPPER_A)),
        ),
        tcgen05=Generation(
            "TM019",
            "tcgen05-descriptor-field",
            "PTX ISA §9.7.17.4.1",
            blackwell(packed(0x6000_4040_0001_0000), expect="TM019"),
            blackwell(packed(BLACKWELL_A)),
        ),
    ),
    # Checks: addresses of shared memory followed into the start address of a descriptor. Possible only: an address of
    # a cluster kernel that keeps the rank of its CTA.
    # Why: the start address is (address & 0x3FFFF) >> 4. Bits above the 14 of the field change the leading offset, and
    # the upper bits of a generic address are those of the shared window. Source: PTX ISA §9.7.16.5.1 and 9.7.17.4.1
    # (matrix-descriptor-encode).
    # Not checked: addresses from memory or parameters.
    *both(
        MatrixTiles.unencoded_addresses,
        severity=Severity.UNDEFINED,
        summary="The start address of a matrix descriptor is not (address & 0x3FFFF) >> 4.",
        consequence="The matrix unit reads other bytes than meant.",
        advice="Convert to a shared address, mask it to 18 bits, and shift it right by 4.",
        wgmma=Generation(
            "WG015",
            "wgmma-unencoded-address",
            "PTX ISA §9.7.16.5.1",
            hopper(packed(HOPPER_A, "and.b32 %r8, %r1, 0x3FFF;"), expect="WG015"),
            hopper(packed(HOPPER_A)),
        ),
        tcgen05=Generation(
            "TM020",
            "tcgen05-unencoded-address",
            "PTX ISA §9.7.17.4.1",
            blackwell(packed(BLACKWELL_A, "mov.b32 %r8, %r1;"), expect="TM020"),
            blackwell(packed(BLACKWELL_A)),
        ),
    ),
    # Checks: start addresses at a known offset of a variable with at least 16-byte alignment.
    # Why: the descriptor counts in units of 16 bytes, so that the rest of the address is lost without a word. Source:
    # PTX ISA §9.7.16.5.1 and 9.7.17.4.1.
    # Not checked: offsets that depend on data.
    *both(
        MatrixTiles.misaligned,
        severity=Severity.WRONG_RESULT,
        summary="A tile of a matrix instruction does not start at a multiple of 16 bytes.",
        consequence="The matrix unit reads the tile from an earlier byte.",
        advice="Align the tile to 16 bytes, or to the repeat of its swizzle.",
        wgmma=Generation(
            "WG016",
            "wgmma-misaligned-tile",
            "PTX ISA §9.7.16.5.1",
            hopper(packed(HOPPER_A, "add.u32 %r7, %r1, 8;\nbfe.u32 %r8, %r7, 4, 14;"), expect="WG016"),
            hopper(packed(HOPPER_A, "add.u32 %r7, %r1, 32;\nbfe.u32 %r8, %r7, 4, 14;")),
        ),
        tcgen05=Generation(
            "TM021",
            "tcgen05-misaligned-tile",
            "PTX ISA §9.7.17.4.1",
            blackwell(packed(BLACKWELL_A, "add.u32 %r7, %r1, 8;\nbfe.u32 %r8, %r7, 4, 14;"), expect="TM021"),
            blackwell(packed(BLACKWELL_A, "add.u32 %r7, %r1, 32;\nbfe.u32 %r8, %r7, 4, 14;")),
        ),
    ),
    # Checks: descriptors with a known, non-zero base offset and a known start in a variable that is aligned to the
    # repeat of the swizzle (1024, 512 or 256 bytes).
    # Why: the base offset is (start of the pattern >> 7) & 7: zero for an aligned tile, also for rows and columns in
    # it.
    # Source: PTX ISA §9.7.16.5.1 and 9.7.17.4.1.
    # Not checked: tiles whose start is not known.
    *both(
        MatrixTiles.base_offsets,
        severity=Severity.WRONG_RESULT,
        summary="The base offset of a matrix descriptor does not agree with the start of its swizzle pattern.",
        consequence="The matrix unit undoes another swizzle than the copy applied: rows are exchanged.",
        advice="Set the base offset to 0 for a tile aligned to the repeat of its swizzle.",
        wgmma=Generation(
            "WG017",
            "wgmma-base-offset",
            "PTX ISA §9.7.16.5.1",
            hopper(packed(0x4006_0040_0001_0000), expect="WG017"),
            hopper(packed(HOPPER_A)),
        ),
        tcgen05=Generation(
            "TM022",
            "tcgen05-base-offset",
            "PTX ISA §9.7.17.4.1",
            blackwell(packed(0x4006_4040_0001_0000), expect="TM022"),
            blackwell(packed(BLACKWELL_A)),
        ),
    ),
    # Checks: tiles of known shape, type and major-ness, with known offsets. Possible only: an offset of 0, which may
    # repeat rows on purpose.
    # Why: the two offsets mean different dimensions for K-major and MN-major tiles, and without swizzle they are
    # exchanged; a wrong one makes core matrices overlap. Source: PTX ISA §9.7.16.5.1 and 9.7.17.5.
    # Not checked: swizzles of atoms larger than 16 bytes; offsets that are too large.
    *both(
        MatrixTiles.overlaps,
        severity=Severity.WRONG_RESULT,
        summary="The offsets of a matrix descriptor make parts of one tile the same bytes.",
        consequence="The matrix unit multiplies some rows twice and others not at all.",
        advice="Check which offset is along K and which is along M or N for this layout.",
        wgmma=Generation(
            "WG018",
            "wgmma-overlapping-tile",
            "PTX ISA §9.7.16.5.1",
            hopper(packed(0x0000_0008_0010_0000), expect="WG018"),
            hopper(packed(0x0000_0010_0008_0000)),
        ),
        tcgen05=Generation(
            "TM023",
            "tcgen05-overlapping-tile",
            "PTX ISA §9.7.17.4.1",
            blackwell(packed(0x4000_4008_0001_0000), expect="TM023"),
            blackwell(packed(BLACKWELL_A)),
        ),
    ),
    # Checks: tiles of known shape and offsets at a known place in a variable of known size.
    # Why: the bytes behind belong to another buffer, or to nobody. Source: PTX ISA §9.7.16.5.1 and 9.7.17.5.
    # Not checked: dynamic shared memory, whose layout the PTX does not tell.
    *both(
        MatrixTiles.outside,
        severity=Severity.UNDEFINED,
        summary="A matrix instruction reads beyond the end of the buffer that its tile starts in.",
        consequence="Wrong results, or a fault at the end of shared memory.",
        advice="Make the buffer as large as the tile, or correct the start and the offsets.",
        wgmma=Generation(
            "WG019",
            "wgmma-tile-outside-buffer",
            "PTX ISA §9.7.16.5.1",
            hopper(packed(HOPPER_A, "add.u32 %r7, %r1, 4096;\nbfe.u32 %r8, %r7, 4, 14;"), expect="WG019"),
            hopper(packed(HOPPER_A, "add.u32 %r7, %r1, 96;\nbfe.u32 %r8, %r7, 4, 14;")),
        ),
        tcgen05=Generation(
            "TM024",
            "tcgen05-tile-outside-buffer",
            "PTX ISA §9.7.17.4.1",
            blackwell(
                packed(BLACKWELL_A, "add.u32 %r7, %r1, 8192;\nbfe.u32 %r8, %r7, 4, 14;"), expect="TM024"
            ),
            blackwell(packed(BLACKWELL_A, "add.u32 %r7, %r1, 96;\nbfe.u32 %r8, %r7, 4, 14;")),
        ),
    ),
)
