"""A `tcgen05.alloc` after `tcgen05.relinquish_alloc_permit`.

Checks: feasible paths of one thread from giving up the permit to an allocation.
Why: after any thread of the block gave up the permit, the block may not allocate again.
Source: PTX ISA 9.7.17.7.
Not checked: allocations by other warps than the one that gave up.
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
    .shared .align 8 .b64 bar;

    mov.u32 %r1, %tid.x;
    shr.u32 %r2, %r1, 5;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
    @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32; // expect: TM005
    bar.sync 0;
    ld.shared.b32 %r3, [slot];
    @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 32;
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
    .shared .align 8 .b64 bar;

    mov.u32 %r1, %tid.x;
    shr.u32 %r2, %r1, 5;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
    @%p1 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
    bar.sync 0;
    ld.shared.b32 %r3, [slot];
    @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 32;
    ret;
}
"""


def check(view: KernelView) -> Iterator[Hit]:
    for pair in view.get(TensorMemory).after_relinquish():
        related = ((pair.first, "the permit is given up"),)
        yield Hit(pair.then, "the block gave up the permit to allocate before", related=related)


RULE = Rule(
    id="TM005",
    name="tmem-alloc-after-relinquish",
    severity=Severity.UNDEFINED,
    since="0.1",
    section="PTX ISA 9.7.17.7",
    summary="Tensor memory is allocated after the permit to allocate was given up.",
    consequence="Undefined, or a hang.",
    advice="Give up the permit after the last allocation.",
    bad=_BAD,
    good=_GOOD,
    check=check,
)
