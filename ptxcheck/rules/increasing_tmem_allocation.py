"""A `tcgen05.alloc` of more columns than an earlier one of the same block.

Checks: two allocations on a feasible path of one thread, of which the second surely has more columns.
Why: the sizes of successive allocations of a block must not grow.
Source: PTX ISA 9.7.17.7.
Not checked: allocations by different warps.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..finding import Severity
from ..protocols.typestate.tensor_memory import TensorMemory
from ..view import KernelView
from .rule import Hit, Rule

_BAD = """
.version 8.6
.target sm_100a
.address_size 64

.visible .entry kernel(.param .u32 n) .reqntid 128
{
    .reg .pred %p<4>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<4>;
    .shared .align 4 .b32 slot;
    .shared .align 4 .b32 slot2;
    .shared .align 8 .b64 bar;

    mov.u32 %r1, %tid.x;
    shr.u32 %r2, %r1, 5;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
    @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot2], 64; // expect: TM004
    bar.sync 0;
    ld.shared.b32 %r3, [slot];
    @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 32;
    ld.shared.b32 %r3, [slot2];
    @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 64;
    ret;
}
"""

_GOOD = """
.version 8.6
.target sm_100a
.address_size 64

.visible .entry kernel(.param .u32 n) .reqntid 128
{
    .reg .pred %p<4>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<4>;
    .shared .align 4 .b32 slot;
    .shared .align 4 .b32 slot2;
    .shared .align 8 .b64 bar;

    mov.u32 %r1, %tid.x;
    shr.u32 %r2, %r1, 5;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64;
    @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot2], 32;
    bar.sync 0;
    ld.shared.b32 %r3, [slot];
    @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 64;
    ld.shared.b32 %r3, [slot2];
    @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 32;
    ret;
}
"""


def check(view: KernelView) -> Iterator[Hit]:
    for pair in view.get(TensorMemory).growing():
        related = ((pair.first, "the smaller allocation before"),)
        yield Hit(pair.then, "more columns are allocated than before", related=related)


RULE = Rule(
    id="TM004",
    name="increasing-tmem-allocation",
    severity=Severity.UNDEFINED,
    since="0.1",
    section="PTX ISA 9.7.17.7",
    summary="An allocation of tensor memory is larger than one before it.",
    consequence="Undefined: two blocks of a multiprocessor may wait for each other.",
    advice="Allocate the largest number of columns first, or all at once.",
    bad=_BAD,
    good=_GOOD,
    check=check,
)
