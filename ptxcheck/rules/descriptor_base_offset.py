"""A base offset that shifts the swizzle of a tile whose pattern starts at a multiple of its repeat.

Checks: descriptors with a known, non-zero base offset and a known start in a variable that is aligned to the repeat
of the swizzle (1024, 512 or 256 bytes).
Why: the base offset is (start of the pattern >> 7) & 7: zero for an aligned tile, also for rows and columns in it.
Source: PTX ISA 9.7.16.5.1 and 9.7.17.4.1.
Not checked: tiles whose start is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ..finding import Confidence, Severity
from ..view import KernelView
from .matrix_kernels import BLACKWELL_A, HOPPER_A, blackwell, hopper, packed
from .rule import Hit, Rule


def check(is_hopper: bool, view: KernelView) -> Iterator[Hit]:
    for flaw in view.matrix_tiles.first(view.matrix_tiles.base_offsets()):
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
        summary="The base offset of a matrix descriptor does not agree with the start of its swizzle pattern.",
        consequence="The matrix unit undoes another swizzle than the copy applied: rows are exchanged.",
        advice="Set the base offset to 0 for a tile aligned to the repeat of its swizzle.",
        bad=bad,
        good=good,
        check=run,
    )


RULES = (
    _rule(
        "WG017",
        "wgmma-base-offset",
        "PTX ISA 9.7.16.5.1",
        hopper(packed(0x4006_0040_0001_0000), expect="WG017"),
        hopper(packed(HOPPER_A)),
        True,
    ),
    _rule(
        "TM022",
        "tcgen05-base-offset",
        "PTX ISA 9.7.17.4.1",
        blackwell(packed(0x4006_4040_0001_0000), expect="TM022"),
        blackwell(packed(BLACKWELL_A)),
        False,
    ),
)
