"""A tile of a matrix instruction that starts between multiples of 16 bytes.

Checks: start addresses at a known offset of a variable with at least 16-byte alignment.
Why: the descriptor counts in units of 16 bytes, so that the rest of the address is lost without a word.
Source: PTX ISA 9.7.16.5.1 and 9.7.17.4.1.
Not checked: offsets that depend on data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ..finding import Confidence, Severity
from ..view import KernelView
from .matrix_kernels import BLACKWELL_A, HOPPER_A, blackwell, hopper, packed
from .rule import Hit, Rule


def check(is_hopper: bool, view: KernelView) -> Iterator[Hit]:
    for flaw in view.matrix_tiles.first(view.matrix_tiles.misaligned()):
        if flaw.operand.is_hopper is is_hopper:
            confidence = Confidence.PROVED if flaw.sure else Confidence.POSSIBLE
            yield Hit(flaw.operand.point, f"{flaw.operand.title}: {flaw.message}", confidence=confidence)


def _rule(id: str, name: str, section: str, bad: str, good: str, is_hopper: bool) -> Rule:
    run: Callable[[KernelView], Iterator[Hit]] = partial(check, is_hopper)
    return Rule(
        id=id,
        name=name,
        severity=Severity.WRONG_RESULT,
        since="0.1",
        section=section,
        summary="A tile of a matrix instruction does not start at a multiple of 16 bytes.",
        consequence="The matrix unit reads the tile from an earlier byte.",
        advice="Align the tile to 16 bytes, or to the repeat of its swizzle.",
        bad=bad,
        good=good,
        check=run,
    )


RULES = (
    _rule(
        "WG016",
        "wgmma-misaligned-tile",
        "PTX ISA 9.7.16.5.1",
        hopper(packed(HOPPER_A, "add.u32 %r7, %r1, 8;\nbfe.u32 %r8, %r7, 4, 14;"), expect="WG016"),
        hopper(packed(HOPPER_A, "add.u32 %r7, %r1, 32;\nbfe.u32 %r8, %r7, 4, 14;")),
        True,
    ),
    _rule(
        "TM021",
        "tcgen05-misaligned-tile",
        "PTX ISA 9.7.17.4.1",
        blackwell(packed(BLACKWELL_A, "add.u32 %r7, %r1, 8;\nbfe.u32 %r8, %r7, 4, 14;"), expect="TM021"),
        blackwell(packed(BLACKWELL_A, "add.u32 %r7, %r1, 32;\nbfe.u32 %r8, %r7, 4, 14;")),
        False,
    ),
)
