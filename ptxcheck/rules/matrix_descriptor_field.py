"""A matrix descriptor whose constant or unused bits are wrong, or whose swizzle mode is no mode.

Checks: descriptors of wgmma and tcgen05 whose fields are known, against the layout of their architecture.
Why: nobody checks descriptors: ptxas takes any 64 bits, and the matrix unit does something with them. The two
generations number swizzles differently, and tcgen05 has a constant in bits 46 to 48.
Source: PTX ISA 9.7.16.5.1 and 9.7.17.4.1.
Not checked: fields that depend on data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ..finding import Confidence, Severity
from ..view import KernelView
from .matrix_kernels import BLACKWELL_A, HOPPER_A, blackwell, hopper, packed
from .rule import Hit, Rule


def check(is_hopper: bool, view: KernelView) -> Iterator[Hit]:
    for flaw in view.matrix_tiles.first(view.matrix_tiles.illegal_fields()):
        if flaw.operand.is_hopper is is_hopper:
            confidence = Confidence.PROVED if flaw.sure else Confidence.POSSIBLE
            yield Hit(flaw.operand.point, f"{flaw.operand.title}: {flaw.message}", confidence=confidence)


def _rule(id: str, name: str, section: str, bad: str, good: str, is_hopper: bool) -> Rule:
    run: Callable[[KernelView], Iterator[Hit]] = partial(check, is_hopper)
    return Rule(
        id=id,
        name=name,
        severity=Severity.UNDEFINED,
        since="0.1",
        section=section,
        summary="A matrix descriptor has bits that its architecture does not allow.",
        consequence="The matrix unit reads other bytes than meant, or faults.",
        advice="Build the descriptor for this architecture; the generations differ in constants and swizzle numbers.",
        bad=bad,
        good=good,
        check=run,
    )


RULES = (
    _rule(
        "WG014",
        "wgmma-descriptor-field",
        "PTX ISA 9.7.16.5.1",
        hopper(packed(0x4000_4040_0001_0000), expect="WG014"),
        hopper(packed(HOPPER_A)),
        True,
    ),
    _rule(
        "TM019",
        "tcgen05-descriptor-field",
        "PTX ISA 9.7.17.4.1",
        blackwell(packed(0x6000_4040_0001_0000), expect="TM019"),
        blackwell(packed(BLACKWELL_A)),
        False,
    ),
)
