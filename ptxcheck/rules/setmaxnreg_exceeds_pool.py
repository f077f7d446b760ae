"""Increases of `setmaxnreg` that the registers of the block can never satisfy.

Checks: kernels in which each warpgroup is known to execute one `setmaxnreg` or none, outside loops: the
counts that the warpgroups end up with against those that they start with, summed.
Why: an increase waits until others have released as many registers to the pool of the block.
Source: PTX ISA 9.7.20.5.
Not checked: blocks of unknown size, roles that no thread index decides.
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

.visible .entry kernel() .reqntid 512 .minnctapersm 1
{
    .reg .pred %p<4>;
    .reg .b32 %r<4>;

    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p1, %r1, 256;
    @%p1 bra $rest;
    setmaxnreg.inc.sync.aligned.u32 240; // expect: WG013
    ret;
$rest:
    setmaxnreg.dec.sync.aligned.u32 24;
    ret;
}
"""

_GOOD = """
.version 8.6
.target sm_90a
.address_size 64

.visible .entry kernel() .reqntid 512 .minnctapersm 1
{
    .reg .pred %p<4>;
    .reg .b32 %r<4>;

    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p1, %r1, 256;
    @%p1 bra $rest;
    setmaxnreg.inc.sync.aligned.u32 208;
    ret;
$rest:
    setmaxnreg.dec.sync.aligned.u32 24;
    ret;
}
"""


def check(view: KernelView) -> Iterator[Hit]:
    found = view.get(RegisterCount).demand()
    if found is not None:
        point, wanted, there = found
        yield Hit(
            point,
            f"the warpgroups ask for {wanted} registers per thread in all, but start with {there}: "
            "an increase waits for ever",
        )


RULE = Rule(
    id="WG013",
    name="setmaxnreg-exceeds-pool",
    severity=Severity.HANG,
    since="0.1",
    section="PTX ISA 9.7.20.5",
    summary="The warpgroups of a block ask for more registers than it has.",
    consequence="The last increase waits for ever.",
    advice=("Let the decreases release what the increases take: the sum over the warpgroups must not grow."),
    bad=_BAD,
    good=_GOOD,
    check=check,
)
