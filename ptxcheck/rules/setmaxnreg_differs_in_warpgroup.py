"""Warps of one warpgroup that execute different `setmaxnreg` instructions.

Checks: two instructions, each executed by a known set of whole warps, that share a warpgroup but no warp.
Why: all threads of a warpgroup must execute the same instruction. Kernels with a role for each warp place
it in every role and work, so that the rule is pedantic.
Source: PTX ISA 9.7.20.5.
Not checked: branches that no thread index decides; blocks of unknown size.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..finding import Severity
from ..protocols.typestate.register_count import RegisterCount
from ..view import KernelView
from .rule import Hit, Rule

_BAD = """
.version 8.6
.target sm_90a
.address_size 64

.visible .entry kernel() .reqntid 128 .minnctapersm 1
{
    .reg .pred %p<4>;
    .reg .b32 %r<4>;

    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p1, %r1, 32;
    @%p1 bra $rest;
    setmaxnreg.dec.sync.aligned.u32 40;
    ret;
$rest:
    setmaxnreg.dec.sync.aligned.u32 72; // expect: WG012
    ret;
}
"""

_GOOD = """
.version 8.6
.target sm_90a
.address_size 64

.visible .entry kernel() .reqntid 384 .minnctapersm 1
{
    .reg .pred %p<4>;
    .reg .b32 %r<4>;

    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p1, %r1, 128;
    @%p1 bra $rest;
    setmaxnreg.dec.sync.aligned.u32 40;
    ret;
$rest:
    setmaxnreg.dec.sync.aligned.u32 72;
    ret;
}
"""


def check(view: KernelView) -> Iterator[Hit]:
    for point, other in view.get(RegisterCount).differing():
        related = ((other, "other warps of the warpgroup"),)
        yield Hit(point, "warps of this warpgroup execute another setmaxnreg", related=related)


RULE = Rule(
    id="WG012",
    name="setmaxnreg-differs-in-warpgroup",
    severity=Severity.UNDEFINED,
    since="0.1",
    section="PTX ISA 9.7.20.5",
    summary="Warps of one warpgroup execute different setmaxnreg instructions.",
    consequence="Undefined by the text; with different counts the pool of the block may run short.",
    advice="Execute one setmaxnreg before the roles of the warpgroup part.",
    bad=_BAD,
    good=_GOOD,
    check=check,
    pedantic=True,
)
