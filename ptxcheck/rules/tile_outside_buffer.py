"""A tile of a matrix instruction that reaches beyond the shared variable it starts in.

Checks: tiles of known shape and offsets at a known place in a variable of known size.
Why: the bytes behind belong to another buffer, or to nobody.
Source: PTX ISA 9.7.16.5.1 and 9.7.17.5.
Not checked: dynamic shared memory, whose layout the PTX does not tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ..finding import Confidence, Severity
from ..view import KernelView
from .matrix_kernels import BLACKWELL_A, HOPPER_A, blackwell, hopper, packed
from .rule import Hit, Rule


def check(is_hopper: bool, view: KernelView) -> Iterator[Hit]:
    for flaw in view.matrix_tiles.first(view.matrix_tiles.outside()):
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
        summary="A matrix instruction reads beyond the end of the buffer that its tile starts in.",
        consequence="Wrong results, or a fault at the end of shared memory.",
        advice="Make the buffer as large as the tile, or correct the start and the offsets.",
        bad=bad,
        good=good,
        check=run,
    )


RULES = (
    _rule(
        "WG019",
        "wgmma-tile-outside-buffer",
        "PTX ISA 9.7.16.5.1",
        hopper(packed(HOPPER_A, "add.u32 %r7, %r1, 4096;\nbfe.u32 %r8, %r7, 4, 14;"), expect="WG019"),
        hopper(packed(HOPPER_A, "add.u32 %r7, %r1, 96;\nbfe.u32 %r8, %r7, 4, 14;")),
        True,
    ),
    _rule(
        "TM024",
        "tcgen05-tile-outside-buffer",
        "PTX ISA 9.7.17.4.1",
        blackwell(packed(BLACKWELL_A, "add.u32 %r7, %r1, 8192;\nbfe.u32 %r8, %r7, 4, 14;"), expect="TM024"),
        blackwell(packed(BLACKWELL_A, "add.u32 %r7, %r1, 96;\nbfe.u32 %r8, %r7, 4, 14;")),
        False,
    ),
)
